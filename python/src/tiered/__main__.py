"""`python -m tiered`."""
from tiered._launcher import main

main()
