# SPDX-License-Identifier: Apache-2.0
# chosen: which of the committed files speak for their devices; for scripts/results and tests/golden/check

# newest KIND DEVICE..: of every device that has such a file, its newest
newest() {
  local kind=$1 device
  shift
  for device in "$@"; do
    find "$device" -maxdepth 1 \( -name "*-$kind.csv" -o -name "*-$kind.zip" \) | sort | tail -1
  done
}
# of_claims DEVICE..: what decides claims on them; claims-more: cases that later rules asked for
of_claims() {
  local device
  for device in "$@"; do
    newest claims "$device"
    find "$device" -maxdepth 1 \( -name '*-claims-more.zip' -o -name '*-paper.csv' -o -name '*-paper.zip' -o -name '*-search.zip' \) | sort
  done
}
