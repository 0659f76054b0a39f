using Confluent.Kafka;

namespace Billing.Simulation.Kafka;

/// <content>What it commits, and what it knows of leaders.</content>
internal sealed partial class ModelConsumer
{
    private bool CanCommit =>
        !_evicted && !_brokers.IsUnavailableTo(_node) && _brokers.CommitsRefusedUntil <= _brokers.Scheduler.Now;

    private void AutoCommit()
    {
        if (_group is not null && _brokers.Scheduler.Now - _committed >= AutoCommitInterval.Ticks && CanCommit)
        {
            _committed = _brokers.Scheduler.Now;
            CommitStored();
        }
    }

    // What is stored is committed before partitions are given up.
    private void CommitAtEnd()
    {
        if (CanCommit)
        {
            CommitStored();
        }
    }

    private void CommitStored()
    {
        foreach (var stored in _stored.Values.Where(IsAhead))
        {
            if (_group!.OwnerOf(stored.TopicPartition) == this)
            {
                _group.Commit(stored);
                _lastCommitted[stored.TopicPartition] = stored;
            }
        }
    }

    private bool IsAhead(TopicPartitionOffset stored) =>
        !_lastCommitted.TryGetValue(stored.TopicPartition, out var committed)
        || (stored.LeaderEpoch is { } one && committed.LeaderEpoch is { } other && one != other
            ? one > other
            : stored.Offset > committed.Offset);

    // What it hears of a leader with a smaller epoch is taken for old.
    private void HearOfLeader(TopicPartition partition)
    {
        var log = _brokers[partition];
        if (log.Epoch > _leaders[partition])
        {
            _leaders[partition] = log.Epoch;
            Validate(partition);
        }
    }

    // Whether the log still has what was read.
    private void Validate(TopicPartition partition)
    {
        if (_epochs.TryGetValue(partition, out var epoch))
        {
            var (log, end) = (_brokers[partition], _brokers[partition].EndOf(epoch));
            // Without that epoch, it is as with "auto.offset.reset=earliest".
            if (end < _positions[partition])
            {
                _positions[partition] = end < 0 ? log.First : end;
            }
        }
    }
}
