"""Workers that run jobs, in processes of this machine or on a Ray cluster."""
