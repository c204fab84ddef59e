#!/bin/bash
# SPDX-License-Identifier: MIT
#
# lint.sh - what clang-format and shellcheck say of the sources, at the
# settings of .clang-format and none. Status 77 where a tool is missing.
set -eu -o pipefail

here=$(dirname "$(readlink -f "$0")")
# shellcheck source=tests/style/tap.sh
. "$here/tap.sh"
# shellcheck source=tests/style/files.sh
. "$here/files.sh"

cd "$here/../.."

check_format()
{
	c_files . | xargs -d '\n' clang-format --style=file --dry-run -Werror
}

check_shell()
{
	shell_files . | xargs -d '\n' shellcheck -x
}

for tool in clang-format shellcheck; do
	command -v "$tool" >/dev/null || {
		echo "1..0 # SKIP no $tool"
		exit 77
	}
done
tap_clean 'clang-format would change nothing' check_format
tap_clean 'shellcheck has no complaint' check_shell
tap_end
