# SPDX-License-Identifier: Apache-2.0
# chosen: selects committed results files of each device; for scripts/results and tests/golden/check

# newest KIND DEVICE..: prints the newest file of that kind of each device
newest() {
  local kind=$1 device
  shift
  for device in "$@"; do
    find "$device" -maxdepth 1 \( -name "*-$kind.csv" -o -name "*-$kind.zip" \) | sort | tail -1
  done
}
# of_claims DEVICE..: prints the files that decide claims; claims-more has cases of later rules
of_claims() {
  local device
  for device in "$@"; do
    newest claims "$device"
    find "$device" -maxdepth 1 \( -name '*-claims-more.zip' -o -name '*-paper.csv' -o -name '*-paper.zip' -o -name '*-search.zip' \) | sort
  done
}
