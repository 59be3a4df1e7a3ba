"""Programs as flat graphs of operations, which planning and emitters read."""
