"""What a job knows of itself, counted once and shown in many ways.

A `Ledger` adds up what happens, epoch by epoch, and gives `Facts`: totals since the job began. A
`Hub` shows the newest ones, to Prometheus and to people. Since facts are totals, a hub that was
restarted knows all again when it hears the next ones.
"""
