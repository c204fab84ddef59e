# SPDX-License-Identifier: MIT
# hosts: amd
# timeout: 200
# standard: yes
# needs: linux
# needs: linux-generic
# shellcheck shell=sh
# Debian's kernel for PCs and servers, too, not only the one for clouds. It gets
# what it is to run by the kernel's command line.
# shellcheck source=tests/lab/linux.sh
. /lab/linux.sh

boot generic --set boot_args.run=true --set "$generic" < /dev/null
holds "powers off, status $status" [ "$status" = 0 ]
release=$(sed -n 's/.*guest: Linux \([^ ,]*\),.*/\1/p' "$out")
holds "is up, and another kernel: $release" \
	[ "${release:-$(uname -r)}" != "$(uname -r)" ]
holds "the deadline timer ticks" grep -q "tick device cpu 0: lapic-deadline;" "$out"
n=$(ticks)
holds "local timer interrupts: $n" is_positive "$n"
n=$(member arms)
holds "deadlines of punctual's: $n" is_positive "$n"
explain
echo "1..$points"
