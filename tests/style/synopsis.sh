#!/bin/bash
# SPDX-License-Identifier: MIT
#
# synopsis.sh SOURCE-ROOT - what -h prints and what the man page says at its top
# are the same commands with the same options; each option has its paragraph in
# the man page; and README shows the usage as it is.
set -eu -o pipefail

here=$(dirname "$(readlink -f "$0")")
# shellcheck source=tests/style/tap.sh
. "$here/tap.sh"

usage=$1/vmm/options_usage.c man=$1/vmm/punctual.1 readme=$1/README.md

# The text as -h prints it.
usage_text()
{
	sed -n 's/^\t"\(.*\)\\n";\{0,1\}$/\1/p' "$usage"
}

usage_in_readme()
{
	sed -n '/^usage: punctual/,/^```/p' "$readme" | sed '$d'
}

# "command --option", a line each, sorted. -q and -v count as --quiet and
# --verbose.
by_usage()
{
	usage_text | sed '/^$/q' | awk '
		match($0, /punctual [a-z-]+/) {
			command = substr($0, RSTART + 9, RLENGTH - 9)
		}
		command && command !~ /^-/ {
			while (match($0, /\[-+[a-z-]+/)) {
				print command, substr($0, RSTART + 1, RLENGTH - 1)
				$0 = substr($0, RSTART + RLENGTH)
			}
		}' | long_names
}

by_man()
{
	sed -n '/^\.Sh SYNOPSIS/,/^\.Sh DESCRIPTION/p' "$man" |
		awk '
			/^\.Cm / { command = $2 }
			/^\.Op Fl -/ { print command, "-" $3 }
			/^\.Op Fl [a-z]+$/ {
				for (i = 1; i <= length($3); i++)
					print command, "-" substr($3, i, 1)
			}' | long_names
}

long_names()
{
	sed 's/ -q$/ --quiet/; s/ -v$/ --verbose/' | sort -u
}

options_without_paragraph()
{
	local option

	by_usage | sed 's/.* --//' | sort -u | while read -r option; do
		grep -qE "^\.It Fl (. , Fl )?-$option( |$)" "$man" ||
			echo "--$option"
	done
}

check_not_empty()
{
	[ "$(by_usage | wc -l)" -gt 10 ] || echo 'no options found'
}

tap_clean 'the usage is understood' check_not_empty
tap_clean 'usage and man page have the same options' \
	diff <(by_usage) <(by_man)
tap_clean 'README shows the usage' diff <(usage_text) <(usage_in_readme)
tap_clean 'every option is explained in the man page' options_without_paragraph
tap_end
