/* SPDX-License-Identifier: MIT */
/* calibrate_image - the guest guest-fw/calibrate, inside the program, so that
 * it is found wherever the program stands. */
	.section .rodata
	.balign	16
	.globl	calibrate_image, calibrate_image_end
calibrate_image:
	.incbin	CALIBRATE_IMAGE_PATH
calibrate_image_end:
	.section .note.GNU-stack, "", @progbits
