#!/usr/bin/env bash
# The browser that `npm run test:browser` drives: Chromium, from the machine's own packages.
set -euo pipefail

isThere() {
  for program in chromium chromium-browser google-chrome google-chrome-stable; do
    command -v "$program" >/dev/null && return 0
  done
  return 1
}

if isThere; then
  echo 'A browser is installed.'
elif [ "$(id -u)" != 0 ]; then
  echo 'Expected a browser, found none, and only root may install one: apt-get install chromium' >&2
  exit 1
else
  apt-get update -qq
  DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends chromium >/dev/null
  isThere
  echo 'Installed chromium.'
fi
