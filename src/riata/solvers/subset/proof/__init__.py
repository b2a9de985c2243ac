"""How much better any other model of k features could be: bounds, and the search that closes their gap."""
