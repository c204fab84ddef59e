#!/bin/bash
# SPDX-License-Identifier: MIT
#
# iasl.sh PROGRAM - what ACPI's own compiler makes of our tables.
#
# Disassembles every table that PROGRAM (tables.c) writes: iasl must know each
# field, find each checksum right, and use up all bytes. The DSDT, compiled
# again from what was disassembled, must be the AML assembled by hand, byte by
# byte. Without iasl (Debian: acpica-tools) it is skipped, and says so.
# shellcheck source=tests/style/tap.sh
set -eu -o pipefail

program=$(readlink -f "$1")
. "$(dirname "$(readlink -f "$0")")/../style/tap.sh"

command -v iasl >/dev/null || {
	echo '1..0 # SKIP no iasl (Debian: acpica-tools)'
	exit 0
}

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch"

# Each check prints what is wrong, and nothing if all is well.

disassembled()
{
	iasl -d "$1.dat" >"$1.log" 2>&1 || cat "$1.log"
	[ -s "$1.dsl" ] || echo "$1.dsl: not there"
	grep -iE 'error|warning|invalid|incorrect|unknown|unterminated' \
		"$1.log" "$1.dsl" || true
}

says()
{
	grep -qE "$2" "$1.dsl" || echo "$1 does not say: $2"
}

body()
{
	tail -c +37 "$1"
}

compiled_back()
{
	iasl -p again DSDT.dsl >again.log 2>&1 || cat again.log
	grep -E '(Error|Warning|Remark)s?$|^(Error|Warning)' again.log || true
	cmp <(body DSDT.dat) <(body again.aml)
}

"$program" "$scratch" 2
for table in FACP FACS APIC DSDT RSDT XSDT; do
	tap_clean "$table" disassembled $table
done
tap_clean 'FADT: PM1a control' says FACP 'PM1A Control Block Address : 00000604'
tap_clean 'FADT: an 8259, a PM1' says FACP 'Hardware Reduced \(V5\) : 0'
tap_clean 'MADT: the second processor' says APIC 'Local Apic ID : 01'
tap_clean 'DSDT: a serial port' says DSDT 'EisaId \("PNP0501"\)'
tap_clean 'DSDT: compiled back, it is the same AML' compiled_back
tap_end
