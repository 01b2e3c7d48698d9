"""Networks that learn, written in torch, and the devices that they learn on."""
