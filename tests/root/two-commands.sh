#!/bin/bash
# SPDX-License-Identifier: MIT
#
# two-commands.sh - the two commands that a newcomer types, in a Debian
# bookworm root that holds git and nothing else: ./dev run and ./dev test, in
# a clone of HEAD, and the third one, ./dev guest linux. /dev/kvm is lent to the
# root where the host has one; where not, punctual must say so and the KVM tests
# must be skipped, no more.
#
# Prints TAP. Status 77 where such a root cannot be made.
set -eu -o pipefail

here=$(dirname "$(readlink -f "$0")")
source=$(readlink -f "$here/../..")
# shellcheck source=tests/style/tap.sh
. "$here/../style/tap.sh"

skip()
{
	echo "1..0 # SKIP $*"
	exit 77
}

note()
{
	sed 's/^/# /'
}

# The archives that this machine itself uses, if they are Debian's: another
# may be out of reach. None: mmdebstrap knows where Debian's own is.
archives()
{
	# shellcheck disable=SC2016 # the $() are apt's
	apt-get indextargets 'Created-By: Packages' 'Origin: Debian' \
		--format 'deb $(REPO_URI) $(RELEASE) $(COMPONENT)' \
		2>/dev/null | grep -E ' bookworm[^ ]* ' || true
}

# What this machine's apt was told for the way to its archives (a proxy, a
# clock that is off) holds in the root too.
apt_settings()
{
	apt-config dump --format '%f "%v";%n' |
		grep -E '^Acquire::(http|https|ftp|Retries|Check-)' || true
}

make_root()
{
	local include=git list

	list=$(archives)
	case $list in
	*https:*) include+=,ca-certificates ;;
	esac
	apt_settings >"$scratch/apt.conf"
	echo "$list" >"$scratch/sources.list"
	set -- "$scratch/sources.list"
	[ -n "$list" ] || shift
	# The root is thrown away: no need to wait for the disk.
	mmdebstrap --quiet --variant=apt --include="$include" \
		--aptopt="$scratch/apt.conf" --dpkgopt=force-unsafe-io \
		bookworm "$target" "$@" </dev/null
	cp -L /etc/resolv.conf /etc/hosts "$target/etc"
	git clone -q --no-hardlinks "$source" "$target/punctual"
}

# enter COMMAND...: in the root, at the clone. Mounts and processes live in
# namespaces of their own and so end with the command, whatever happens.
enter()
{
	# shellcheck disable=SC2016 # for the inner shell
	unshare --mount --pid --fork --kill-child sh -eu -c '
		mount -t proc proc "$0/proc"
		mount --rbind /sys "$0/sys"
		mount -t devpts -o newinstance,ptmxmode=0666 devpts \
			"$0/dev/pts"
		if [ -c /dev/kvm ]; then
			: >>"$0/dev/kvm"
			mount --bind /dev/kvm "$0/dev/kvm"
		fi
		exec chroot "$0" "$@"' "$target" \
		env -i -C /punctual HOME=/root TERM=dumb LC_ALL=C.UTF-8 \
		PATH=/usr/sbin:/usr/bin:/sbin:/bin "$@"
}

# timed NAME COMMAND...: in the root; leaves status, out and err.
timed()
{
	local began=${EPOCHREALTIME/[.,]/}

	status=0
	shown=false
	enter "${@:2}" >"$out" 2>"$err" </dev/null || status=$?
	printf '# %s: status %d after %d ms\n' "$1" "$status" \
		$(((${EPOCHREALTIME/[.,]/} - began) / 1000))
}

# point NAME COMMAND...: passes if COMMAND succeeds; else shows, once, what
# the last timed command printed.
point()
{
	local name=$1

	shift
	if "$@"; then
		tap_result ok "$name"
		return
	fi
	tap_result 'not ok' "$name"
	$shown || tail -n 40 "$out" "$err" | note
	shown=true
}

is_bare()
{
	local tool

	for tool in gcc cc clang meson ninja python3 pkg-config jq; do
		! enter which "$tool" >"$out" 2>&1 || return 1
	done
	enter git --version >"$out" 2>&1
}

no_chatter()
{
	! grep -q '^dev:' "$err"
}

test_run()
{
	timed './dev run, first' ./dev run configs/lateness.json
	if $kvm; then
		point './dev run ends 0' [ "$status" -eq 0 ]
		point './dev run prints what the guest says' [ -s "$out" ]
	else
		point './dev run ends 77' [ "$status" -eq 77 ]
		point './dev run names /dev/kvm' grep -q /dev/kvm "$err"
		point './dev run prints nothing of its own' [ ! -s "$out" ]
	fi
	timed './dev run, second' ./dev run configs/lateness.json
	point './dev run says nothing of the build again' no_chatter
}

has_guest()
{
	[ -s "$target/punctual/build/guest/linux/vmlinuz" ] &&
		[ -s "$target/punctual/build/guest/linux/initrd" ]
}

test_guest()
{
	timed './dev run configs/linux.json' ./dev run configs/linux.json
	point 'without a guest it ends 78' [ "$status" -eq 78 ]
	point 'and names the command' grep -q './dev guest linux' "$err"
	timed './dev guest linux, first' ./dev guest linux
	point './dev guest linux ends 0' [ "$status" -eq 0 ]
	point './dev guest linux makes a guest' has_guest
	timed './dev guest linux, second' ./dev guest linux
	point 'the second one ends 0, too' [ "$status" -eq 0 ]
	point 'and says nothing' [ ! -s "$err" ]
	timed './dev run configs/linux.json' ./dev run configs/linux.json \
		--set timer.mode=kernel --set boot_args.run=true
	if $kvm; then
		point 'Linux boots, and ends 0' [ "$status" -eq 0 ]
	else
		point 'there is only no /dev/kvm' [ "$status" -eq 77 ]
	fi
}

has_sums()
{
	tail -n 1 "$out" |
		grep -qE '^[1-9][0-9]* passed, 0 failed, [0-9]+ skipped$'
}

test_test()
{
	timed './dev test' ./dev test
	point './dev test ends 0' [ "$status" -eq 0 ]
	point './dev test closes with its sums' has_sums
	if ! $kvm; then
		point './dev test skips kvm and says so' \
			grep -qE '^ *skipped .*kvm' "$out"
	fi
	tail -n 1 "$out" | note
	point 'the clone is as clean as before' \
		[ -z "$(enter git status --porcelain)" ]
}

[ "$(id -u)" -eq 0 ] || skip 'needs root, for chroot'
command -v mmdebstrap >/dev/null || skip 'no mmdebstrap'
unshare --mount --pid --fork true 2>/dev/null || skip 'no namespaces here'

kvm=false
# The test for a device comes first: <> would make a missing file.
if [ -c /dev/kvm ] && { : <>/dev/kvm; } 2>/dev/null; then
	kvm=true
fi
# Not /tmp: that may be memory, and the root takes a gigabyte.
scratch=$(mktemp -d -p "${TMPDIR:-/var/tmp}")
trap 'rm -rf --one-file-system "$scratch"' EXIT
target=$scratch/root
out=$scratch/out
err=$scratch/err
: >"$out"
shown=false

began=$SECONDS
make_root >"$err" 2>&1 || {
	tap_result 'not ok' 'a bookworm root with git'
	note <"$err"
	exit 1
}
echo "# root made in $((SECONDS - began)) s; /dev/kvm there: $kvm"
point 'the root holds git and no tool of ours' is_bare
test_run
test_guest
test_test
tap_end
