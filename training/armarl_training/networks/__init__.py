"""Networks that learn, in torch, and the devices they learn on."""
