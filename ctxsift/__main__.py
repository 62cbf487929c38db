"""`python -m ctxsift` is the console script `ctxsift`."""

import sys

from ctxsift.cli.main import main

sys.exit(main())
