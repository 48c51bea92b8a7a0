"""The throw-away guest: virtme-ng boots the lab's root, our agent executes operations in it."""
