# SPDX-License-Identifier: MIT
# shellcheck shell=bash
#
# Faults that are put into a copy of a source file: by the mutants, and by the
# fuzz targets. How they are written down: see tests/mutants/list.

# apply HUNK FILE: the file with the hunk applied. Fails unless what the hunk
# leaves or takes away is there exactly once.
apply()
{
	HUNK=$1 awk '
		BEGIN {
			n = split(ENVIRON["HUNK"], hunk, "\n") - 1
			for (i = 1; i <= n; i++) {
				kind = substr(hunk[i], 1, 1)
				text = substr(hunk[i], 2)
				if (kind != "+")
					old[++olds] = text
				if (kind != "-")
					new = new text "\n"
			}
		}
		{ line[NR] = $0 }
		END {
			for (at = 1; at + olds - 1 <= NR; at++) {
				for (i = 1; i <= olds; i++)
					if (line[at + i - 1] != old[i])
						break
				if (i > olds) {
					found++
					where = at
				}
			}
			if (!olds || found != 1)
				exit 1
			for (i = 1; i <= NR; i++) {
				if (i == where) {
					printf "%s", new
					i += olds - 1
				} else
					print line[i]
			}
		}' "$2"
}
