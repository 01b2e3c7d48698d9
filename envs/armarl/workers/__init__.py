"""Jobs spread over processes of this machine or over a Ray cluster."""
