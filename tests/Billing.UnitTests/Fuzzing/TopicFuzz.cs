using System.Text;
using System.Text.RegularExpressions;
using Billing.Backends.Balances;
using Billing.Contracts;
using Billing.Hosting;
using Billing.Messaging;
using Billing.Messaging.Kafka.Clients;
using Billing.Messaging.Kafka.DeadLetters;
using Billing.Messaging.Requests;
using Billing.Operator.DeadLetters;
using Billing.Simulation;
using Billing.Simulation.Kafka;
using Billing.Simulation.Runs;
using Billing.UnitTests.Testing;
using Billing.Wire.V1;
using Confluent.Kafka;
using Trace = Billing.Simulation.Trace;

namespace Billing.UnitTests.Fuzzing;

/// <summary>Hostile records on the topics, as the platform's own consumers read them.</summary>
public sealed partial class TopicFuzz
{
    // Of simulated time.
    private static readonly TimeSpan Patience = TimeSpan.FromSeconds(60);

    /// <summary>Every record on a topic of commands is either a dead letter, with the reason for which it was refused,
    /// or processed; and it is settled, whatever it holds.</summary>
    [Fact]
    public void A_record_on_a_request_topic_is_refused_with_a_reason_or_processed()
    {
        // One platform for some records: what they do to its accounts is met by the next ones.
        const int Together = 500;
        var exitCode = Environment.ExitCode;
        Backends? backends = null;
        var tried = 0;
        try
        {
            new Fuzz("commands", Corpus.Commands, Corpus.Words, tries: 4_000).Run(value =>
            {
                if (tried++ % Together == 0)
                {
                    backends?.Dispose();
                    backends = new Backends(tried);
                }
                return backends!.Take(value);
            });
        }
        finally
        {
            backends?.Dispose();
            // Supervisors set the exit code of the process, which here is that of the tests.
            Environment.ExitCode = exitCode;
        }
    }

    /// <summary>Every event is either applied, and the view then has the balance that it states, or leads to a
    /// look into the store.</summary>
    [Fact]
    public void A_record_on_the_topic_of_events_never_gives_an_account_another_balance_than_the_one_it_states()
    {
        var view = new BalanceView(Limits.Opened(100), 1_000, TimeProvider.System);
        new Fuzz("events", Corpus.Events, Corpus.Words, tries: 20_000).Run(value =>
        {
            view.Reset();
            view.Complete();
            if (!WireFormat.TryReadEvent(value, "1"u8, out var recorded, out var refusal))
            {
                return Kind(refusal);
            }
            var gaps = view.Apply([recorded]);
            var account = view.Find(recorded.StreamId);
            Assert.True(account is not null || gaps.Count > 0);
            if (gaps.Count == 0 && account!.Version > 0)
            {
                Assert.Equal((recorded.Version, recorded.Balance.ToDecimal()), (account.Version, account.Balance));
            }
            return $"{recorded.FactCase} {gaps.Count} {account?.Version}";
        });
    }

    /// <summary>Dead letters are shown to people in a terminal: whatever they hold.</summary>
    [Fact]
    public void A_dead_letter_is_shown_without_control_characters()
    {
        new Fuzz(
            "dead-letters", [.. Corpus.Commands, .. Corpus.Events],
            [.. Corpus.Words, "billing-dead-topic", "billing.events"], tries: 10_000).Run(value =>
        {
            var at = value.Length / 3;
            var headers = new Headers
            {
                { DeadLetterPublisher.ReasonHeader, value[..at] },
                { DeadLetterPublisher.TruncatedHeader, value[at..(2 * at)] },
            };
            headers.Add(
                DeadLetterPublisher.TopicHeader,
                value.Length % 2 == 0 ? Encoding.UTF8.GetBytes(Topics.Events) : value[(2 * at)..]);
            headers.Add(Encoding.Latin1.GetString(value[..Math.Min(at, 20)]), value);
            var letter = DeadLetter.Of(new ConsumeResult<byte[], byte[]>
            {
                Topic = Topics.DeadLetters,
                Message = new Message<byte[], byte[]>
                {
                    Key = value[at..],
                    Value = value,
                    Headers = headers,
                    Timestamp = new Timestamp(Time(value), TimestampType.CreateTime),
                },
            });
            var decoded = DeadLetterText.TryDecode(letter, out var text);
            string[] shown =
            [
                text, DeadLetterText.Time(letter), DeadLetterText.Origin(letter), DeadLetterText.Size(letter),
                UntrustedText.Printable(letter.Reason), DeadLetterText.OfBytes(letter.Key),
                UntrustedText.Printable(letter.ReplayedFrom ?? ""),
                .. letter.Headers.Select(h => UntrustedText.Printable(h.Key) + DeadLetterText.OfBytes(h.Value)),
                .. DeadLetterText.Dump(letter.Value!),
            ];
            Assert.DoesNotContain(shown, line => line.Replace("\n", "", StringComparison.Ordinal).Any(char.IsControl));
            return $"{decoded} {DeadLetterReplay.Refusal(letter) is null} {letter.TruncatedFrom is null}";
        });
    }

    private static long Time(byte[] value) => value.Length < sizeof(long) ? -1 : BitConverter.ToInt64(value);

    // What may be in a refusal besides its own words: numbers, and names in quotes.
    private static string Kind(string refusal) => Varying().Replace(refusal, "#");

    [GeneratedRegex("[0-9]+|'[^']*'|\"[^\"]*\"")]
    private static partial Regex Varying();

    /// <summary>A payment and a balance backend, over the simulation's models of Kafka and the event store.</summary>
    private sealed class Backends : IDisposable
    {
        private readonly Scheduler _scheduler;
        private readonly Platform _platform;
        private int _letters;
        private int _events;

        public Backends(int seed)
        {
            var dice = new Dice(seed);
            _scheduler = new Scheduler(dice);
            _platform = new Platform(
                _scheduler, dice,
                new Settings(
                    Proxies: 1, PaymentBackends: 1, BalanceBackends: 1, Partitions: 1,
                    BatchMax: 100, InFlightMax: Settings.InFlightUsual,
                    CachedAccountsMax: 1_000, Jitter: false, LatencyMs: 1, Seed: 2),
                new Trace(_scheduler, keepsLines: false));
            Pass(() => _platform.Backends.All(backend => backend.Tracked >= 0));
        }

        public void Dispose() => _scheduler.End();

        /// <summary>Appends a record to a topic, and waits until it is settled.</summary>
        public string Take(byte[] value)
        {
            var (topic, key, version) = Placed(value);
            var expected = !WireFormat.TryReadCommand(value, version, out var command, out var refusal) ? refusal
                : WireFormat.RoutingError(command!, topic, key!);
            if (expected is null
                && command!.RequestCase is Command.RequestOneofCase.Statement or Command.RequestOneofCase.BalanceAt)
            {
                // Statements and balances of the past are read with SQL, which the model of the event store has not.
                return "of the past";
            }
            var log = _platform.Brokers.Find(topic)![0];
            var headers = new Headers
            {
                { WireFormat.VersionHeader, version }, { "traceparent", value[..Math.Min(value.Length, 55)] },
            };
            log.Append(new StoredRecord(key, value, headers, DateTime.UnixEpoch));

            var group = _platform.Brokers.Group(Topics.AllPayments.Contains(topic) ? Groups.Payments : Groups.Balances);
            Pass(() => group.Committed.GetValueOrDefault(log.Partition) == log.End);

            CheckLetter(expected, log, key, value);
            var stored = _platform.Store.History.Events.Count - _events;
            _events += stored;
            Assert.InRange(stored, 0, expected is null ? 1 : 0);
            return expected is null ? $"{command!.RequestCase} {stored}" : Kind(expected);
        }

        private void CheckLetter(string? expected, Log log, byte[]? key, byte[] value)
        {
            var all = _platform.Brokers.Find(Topics.DeadLetters)![0].All;
            var letters = all.Skip(_letters).ToList();
            _letters = all.Count;
            var reasons = letters.ConvertAll(
                letter => Encoding.UTF8.GetString(letter.Headers.GetLastBytes(DeadLetterPublisher.ReasonHeader)));
            Assert.Equal(expected is null ? [] : [Cut(expected)], reasons);
            foreach (var letter in letters)
            {
                var read = DeadLetter.Of(new ConsumeResult<byte[], byte[]>
                {
                    Topic = Topics.DeadLetters,
                    Message = new Message<byte[], byte[]>
                    {
                        Key = letter.Key!,
                        Value = letter.Value!,
                        Headers = letter.Headers,
                    },
                });
                Assert.Equal(
                    (log.Partition.Topic, $"{log.End - 1}", null), (read.Topic, read.Offset, read.TruncatedFrom));
                Assert.Equal(key, read.Key);
                Assert.Equal(value, read.Value);
                Assert.Equal(["billing-wire", "traceparent"], read.Headers.Select(header => header.Key));
            }
        }

        private static string Cut(string reason) => reason.Length <= 2_000 ? reason : reason[..2_000] + "...";

        private void Pass(Func<bool> until)
        {
            _scheduler.RunUntil(_scheduler.Now + Patience.Ticks, () => _platform.Failure is not null || until());
            Assert.True(_platform.Failure is null, _platform.Failure);
            Assert.True(until(), "It is never settled.");
        }

        /// <summary>Where the record goes follows from its bytes, so that they are all that a finding needs.
        /// Most go where they belong.</summary>
        private static (string Topic, byte[]? Key, byte[] Version) Placed(byte[] value)
        {
            var hash = value.Aggregate(17u, (sum, b) => (sum * 31) + b);
            var topic = Topics.AllRequests[(int)(hash % (uint)Topics.AllRequests.Count)];
            byte[]? key = hash % 7 == 0 ? null : value[..Math.Min(value.Length, 8)];
            byte[] version = hash % 31 == 0 ? value[..Math.Min(value.Length, 3)] : [(byte)'1'];
            if (hash % 5 != 0 && WireFormat.TryReadCommand(value, "1"u8, out var command, out _))
            {
                var route = CommandRoute.Of(command!);
                (topic, key) = (Topics.Of(route), Encoding.UTF8.GetBytes(route.AccountId));
            }
            return (topic, key, version);
        }
    }
}
