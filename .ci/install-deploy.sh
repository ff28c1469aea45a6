#!/usr/bin/env bash
# The AWS emulator that `npm run test:deploy` deploys to: MiniStack 1.5.33 in .venv/deploy.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

version=1.5.33

isThere() {
  [ -x .venv/deploy/bin/python ] &&
    .venv/deploy/bin/python -c 'import sys
from importlib.metadata import version
sys.exit(version("ministack") != sys.argv[1])' "$version" 2>/dev/null
}

if isThere; then
  echo "MiniStack $version is installed in .venv/deploy."
else
  python3 -m venv .venv/deploy
  .venv/deploy/bin/python -m pip install --quiet --disable-pip-version-check "ministack==$version"
  isThere
  echo "Installed MiniStack $version in .venv/deploy."
fi
