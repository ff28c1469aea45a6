#!/usr/bin/env bash
# The interpreter that `npm run test:oracle` holds ours against: moto 5.2, from the machine's Python or in .venv/oracle.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

# Both imports, since moto alone may be installed without its server.
isThere() {
  "$1" -c 'import moto, moto.server, sys; sys.exit(not moto.__version__.startswith("5.2."))' 2>/dev/null
}

if isThere python3; then
  echo 'moto 5.2 is installed for python3.'
elif [ -x .venv/oracle/bin/python ] && isThere .venv/oracle/bin/python; then
  echo 'moto 5.2 is installed in .venv/oracle.'
else
  python3 -m venv .venv/oracle
  .venv/oracle/bin/python -m pip install --quiet --disable-pip-version-check 'moto[server]==5.2.1'
  isThere .venv/oracle/bin/python
  echo 'Installed moto 5.2.1 in .venv/oracle.'
fi
