# SPDX-License-Identifier: Apache-2.0
# chosen: selects committed results files of each device; for scripts/results and tests

# of_kind KIND DEVICE..: prints the file KIND.zip of each device that has one
of_kind() {
  local kind=$1 device
  shift
  for device in "$@"; do
    if [[ -e ${device%/}/$kind.zip ]]; then echo "${device%/}/$kind.zip"; fi
  done
}
# of_claims DEVICE..: prints the files that decide claims
of_claims() {
  local device kind
  for device in "$@"; do
    for kind in claims paper search; do of_kind "$kind" "$device"; done
  done
}
