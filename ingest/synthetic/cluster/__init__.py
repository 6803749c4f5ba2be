"""A synthetic cluster of any size from one scenario, with its truth beside."""
