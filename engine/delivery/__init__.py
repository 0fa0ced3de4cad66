"""From the outbox to the platform: in order, once, at its pace."""
