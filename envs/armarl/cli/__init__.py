"""What the commands of the command line do, by topic; `armarl.cli` has their options."""
