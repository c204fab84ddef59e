#!/bin/bash
# SPDX-License-Identifier: MIT
#
# sources.sh SOURCE-ROOT - house rules that need no tool but grep: licence
# lines, file length, and what the C style says of types.
set -eu -o pipefail

here=$(dirname "$(readlink -f "$0")")
# shellcheck source=tests/style/tap.sh
. "$here/tap.sh"
# shellcheck source=tests/style/files.sh
. "$here/files.sh"

cd "$1"

# Code of any kind, not data: JSON has no comments, and the dot files are
# settings of tools.
code_files()
{
	{
		all_files . | grep -E \
			'\.([chS]|ld|ya?ml|[1-9])$|(^|/)meson\.build$'
		shell_files .
	} | sort -u
}

# per_file PROGRAM: awk over all code at once.
per_file()
{
	code_files | xargs -d '\n' awk "$1"
}

# A script's first line is taken; there it is the second.
check_licence()
{
	per_file '
		FNR == 1 { if (want) print want; want = FILENAME }
		FNR <= 2 && /SPDX-License-Identifier: MIT/ { want = "" }
		END { if (want) print want }'
}

# Past 500 lines a file is split by topic.
check_length()
{
	per_file 'FNR == 501 { print FILENAME " is longer" }'
}

check_line_ends()
{
	per_file '/[ \t\r]$/ { print FILENAME ":" FNR }'
}

check_typedef()
{
	c_files . | xargs -d '\n' \
		grep -nE '^[[:space:]]*typedef (struct|union)' || true
}

check_guards()
{
	c_files . | grep '\.h$' | xargs -d '\n' grep -LE '^#ifndef [A-Z0-9_]+_H$'
}

tap_clean 'every source names its licence in its first lines' check_licence
tap_clean 'no source is longer than 500 lines' check_length
tap_clean 'no typedef hides a struct' check_typedef
tap_clean 'every header is guarded' check_guards
tap_clean 'no line ends in blanks' check_line_ends
tap_end
