"""One of several processes: leases, the shares that each holds, and limits divided among all."""
