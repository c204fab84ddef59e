# SPDX-License-Identifier: MIT
# shellcheck shell=bash
#
# Which files of a source tree are whose business. Git knows what belongs to
# the project, new files included; a tree without it is read as it lies.

# all_files ROOT: paths below ROOT, a line each.
all_files()
{
	local file

	# The directory may belong to somebody else, whom git would not trust.
	{
		git -C "$1" -c safe.directory='*' ls-files -co \
			--exclude-standard 2>/dev/null ||
			(cd "$1" && find . \( -name .git -o -name 'build*' \
				-type d \) -prune -o -type f -printf '%P\n')
	} | sort | while read -r file; do
		[ ! -f "$1/$file" ] || echo "$file"
	done
}

c_files()
{
	all_files "$1" | grep -E '\.[ch]$'
}

# Shell scripts go by their first line or, if they are only read by others,
# by their name.
shell_files()
{
	local file

	all_files "$1" | while read -r file; do
		case $file in
		*.sh) echo "$file" ;;
		*.*) ;;
		*)
			if head -c 64 "$1/$file" | head -n 1 |
				grep -qaE '^#!.*/(ba)?sh\b'; then
				echo "$file"
			fi ;;
		esac
	done
}
