"""Counts what an archive of OTF2 has, as OTF2's own reader sees it, and prints it as JSON."""
import collections
import json
import sys

import otf2
from otf2.events import Enter, MpiIrecv, MpiIsend, MpiRecv, MpiSend

calls = collections.defaultdict(collections.Counter)
sent = collections.defaultdict(list)
received = collections.defaultdict(list)

with otf2.reader.open(sys.argv[1]) as archive:
    groups = {group: i for i, group in enumerate(archive.definitions.location_groups)}

    def member(location, comm, rank):
        """Returns the number of the process that has a rank in a communicator."""
        if "SELF" in comm.name:
            return groups[location.group]
        return groups[comm.group.members[rank].group]

    for location, event in archive.events:
        group = groups[location.group]
        if isinstance(event, Enter):
            calls[group][event.region.name] += 1
        elif isinstance(event, (MpiSend, MpiIsend)):
            to = member(location, event.communicator, event.receiver)
            sent[event.communicator._ref, group, to, event.msg_tag].append(event.msg_length)
        elif isinstance(event, (MpiRecv, MpiIrecv)):
            source = member(location, event.communicator, event.sender)
            received[event.communicator._ref, source, group, event.msg_tag].append(event.msg_length)

json.dump({
    "calls": calls,
    "sent": sum(map(len, sent.values())),
    "bytes": sum(map(sum, sent.values())),
    "unmatched": [f"{k}: {sent[k]} {received[k]}" for k in {*sent, *received} if sent[k] != received[k]][:5],
}, sys.stdout)
