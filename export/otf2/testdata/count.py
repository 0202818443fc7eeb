"""Counts what an archive of OTF2 has, as OTF2's own reader sees it, and prints it as JSON."""
import collections
import json
import sys

import otf2
from otf2.events import Enter, MpiIrecv, MpiIsend, MpiRecv, MpiSend

calls = collections.defaultdict(collections.Counter)
sent = collections.defaultdict(list)
received = collections.defaultdict(list)
total = volume = 0

with otf2.reader.open(sys.argv[1]) as archive:
    groups = {group: i for i, group in enumerate(archive.definitions.location_groups)}
    for location, event in archive.events:
        group = groups[location.group]
        if isinstance(event, Enter):
            calls[group][event.region.name] += 1
        elif isinstance(event, (MpiSend, MpiIsend)):
            total += 1
            volume += event.msg_length
            comm = event.communicator
            if isinstance(comm, otf2.definitions.Comm) and "SELF" not in comm.name:
                to = groups[comm.group.members[event.receiver].group]
            else:
                to = (group, event.receiver)[isinstance(comm, otf2.definitions.InterComm)]
            if not isinstance(comm, otf2.definitions.InterComm):
                sent[comm._ref, group, to, event.msg_tag].append(event.msg_length)
        elif isinstance(event, (MpiRecv, MpiIrecv)):
            comm = event.communicator
            if isinstance(comm, otf2.definitions.InterComm):
                continue
            if "SELF" in comm.name:
                source = group
            else:
                source = groups[comm.group.members[event.sender].group]
            received[comm._ref, source, group, event.msg_tag].append(event.msg_length)

unmatched = [f"{k}: {sent[k]} {received[k]}" for k in {*sent, *received} if sent[k] != received[k]]
json.dump({"calls": calls, "sent": total, "bytes": volume, "unmatched": unmatched[:5]}, sys.stdout)
