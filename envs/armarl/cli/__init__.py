"""The functions behind the subcommands, by topic; `armarl.cli` declares their options."""
