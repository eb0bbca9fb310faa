"""Small messages between the ranks of an emulated device: torchrun --nproc-per-node 3 ranks_torch.py"""

import sys

import torch
import torch.distributed as dist

dist.init_process_group("nccl")
rank, size = dist.get_rank(), dist.get_world_size()
torch.cuda.set_device(rank)


def cuda(*values):
    return torch.tensor(values, device="cuda")


def empty(count):
    return torch.empty(count, dtype=torch.int64, device="cuda")


def check(found, expected):
    assert found == expected, (rank, found, expected)


objects = [None] * size
dist.all_gather_object(objects, {"rank": rank, "list": list(range(rank))})
check(objects, [{"rank": one, "list": list(range(one))} for one in range(size)])
told = [{"seed": 7}] if rank == 0 else [None]
dist.broadcast_object_list(told, src=0)
check(told, [{"seed": 7}])
gathered = [None] * size if rank == 0 else None
dist.gather_object(f"of {rank}", gathered, dst=0)
check(gathered, [f"of {one}" for one in range(size)] if rank == 0 else None)
part = [None]
dist.scatter_object_list(part, [f"for {one}" for one in range(size)] if rank == 0 else [None] * size, src=0)
check(part, [f"for {rank}"])

total, most = cuda(rank + 1.0), cuda(rank)
dist.all_reduce(total)
dist.all_reduce(most, op=dist.ReduceOp.MAX)
check((total.item(), most.item()), (sum(range(1, size + 1)), size - 1))
rows, flat, mine, swapped = [empty(2) for _ in range(size)], empty(size), empty(1), empty(size)
dist.all_gather(rows, cuda(rank, rank * 10))
check([row.tolist() for row in rows], [[one, one * 10] for one in range(size)])
dist.all_gather_into_tensor(flat, cuda(rank * 3))
check(flat.tolist(), [one * 3 for one in range(size)])
dist.reduce_scatter_tensor(mine, torch.arange(size, device="cuda") + rank)
check(mine.item(), size * rank + sum(range(size)))
dist.all_to_all_single(swapped, torch.arange(size, device="cuda") + 10 * rank)
check(swapped.tolist(), [10 * one + rank for one in range(size)])

# Around the ring: each asks before it sends.
got = empty(1)
for work in dist.batch_isend_irecv([dist.P2POp(dist.irecv, got, (rank - 1) % size), dist.P2POp(dist.isend, cuda(rank * 7), (rank + 1) % size)]):
    work.wait()
check(got.item(), (rank - 1) % size * 7)
sent = [None]
if rank == 0:
    dist.send_object_list([{"shape": (2, 3)}], 1)
elif rank == 1:
    dist.recv_object_list(sent, 0)
    check(sent, [{"shape": (2, 3)}])

# What is too large stays unknown, and nobody waits for it.
large = torch.ones(1 << 20, device="cuda")
dist.all_reduce(large)
sys.stdout.write(f"ranks {rank}\n")  # In one write: the ranks share the output.
dist.destroy_process_group()
