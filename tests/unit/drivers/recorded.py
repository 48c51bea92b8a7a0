"""Texts of sysfs, configfs and tools as a 7.3 kernel in a guest with two processors gave them."""

from scripts.campaign.resolve import resolve
from scripts.drivers import registry

PLAIN = {
    "queue/scheduler": "[none] mq-deadline \n",
    "queue/nr_requests": "64\n",
    "queue/logical_block_size": "4096\n",
    "queue/physical_block_size": "4096\n",
    "queue/rotational": "0\n",
    "queue/zoned": "none\n",
    "queue/nr_zones": "0\n",
    "queue/chunk_sectors": "0\n",
    "queue/zone_append_max_bytes": "0\n",
    "queue/write_cache": "write through\n",
    "queue/max_sectors_kb": "124\n",
    "size": "262144\n",
    "mq": "0",
}
ZONED = {
    **PLAIN,
    "queue/zoned": "host-managed\n",
    "queue/nr_zones": "8\n",
    "queue/chunk_sectors": "32768\n",
    "queue/max_open_zones": "0\n",
    "queue/max_active_zones": "0\n",
    "queue/zone_append_max_bytes": "126976\n",
}
BLKZONE = "  start: 0x{start:09x}, len 0x008000, cap 0x{cap:06x}, wptr 0x000000 reset:0 non-seq:0, zcond: {state}\n"
RUBLK_LIST = """
dev id 0: nr_hw_queues 1 queue_depth 128 block size 4096 dev_capacity 262144
\tmax rq size 524288 daemon pid 262 flags 0x261c2 state LIVE
\tublkc: 238:0 ublkb: 259:0 owner: 0:0
\tqueue 0 tid: 264 affinity(0)
\ttarget {"dev_size":134217728,"name":"zoned","type":0}
\ttarget_data {"zoned":{"path":"/run/blkcampaign-backing/blkcampaign/0"}}
\tublksrv_flags: 0x1000000000
"""
BUILD_ID_NOTE = b"\4\0\0\0\x14\0\0\0\3\0\0\0GNU\0\x1a\xbf\x74\xe6".decode("utf-8", "surrogateescape")


def zones(*kinds, cap=0x8000):
    """Output of `blkzone report` for zones of these kinds ("c", "s")."""
    states = {"c": "0(nw) [type: 1(CONVENTIONAL)]", "s": "1(em) [type: 2(SEQ_WRITE_REQUIRED)]"}
    return "".join(
        BLKZONE.format(start=i * 0x8000, cap=0x8000 if kind == "c" else cap, state=states[kind])
        for i, kind in enumerate(kinds)
    )


def device(name, **keys):
    """A resolved device: defaults filled in, 128 MiB."""
    schema = registry.schema(name)["properties"]
    known = {key: value for key, value in {"size": "128m", **keys}.items() if key in schema or key in keys}
    assert not set(known) - set(schema), f"{name} has no {set(known) - set(schema)}"
    return resolve(known, schema, True)


def described(name, requested, readings):
    """The mismatches as text, and the parameters."""
    description = registry.driver(name).describe(requested, readings)
    return [str(mismatch) for mismatch in description.mismatches], description


def texts(operations):
    """Operations in a short form, for comparing orders: `write PATH VALUE`, `exec ARGV`."""
    return [
        " ".join([o["op"], *filter(None, [o.get("path"), o.get("value"), *o.get("argv", []), *o.get("names", [])])])
        for o in operations
    ]
