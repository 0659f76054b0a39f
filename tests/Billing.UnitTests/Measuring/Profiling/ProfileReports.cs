using Billing.Auditing;
using Billing.Measuring;
using Billing.Measuring.Processes;
using Billing.Measuring.Profiling;
using Billing.Measuring.Tracing;

namespace Billing.UnitTests.Measuring.Profiling;

/// <summary>Example results of a profile.</summary>
internal static class ProfileReports
{
    public static ProfileResult With(RunInfo run, long failed = 0, params IReadOnlyList<AuditCounts> audits) => new()
    {
        Run = run,
        Proxies = 1,
        PaymentBackends = 2,
        BalanceBackends = 3,
        Databases = 1,
        Partitions = 1,
        Missing = ["statements are not counted"],
        Cases =
        [
            new ProfileCase
            {
                InFlight = 200,
                DurationS = 15,
                Payments = 1000,
                Failed = failed,
                PerSecond = 4657,
                P50Ms = 38,
                P99Ms = 101,
                Steps =
                [
                    new LegSummary
                    {
                        Name = "store, commit", From = "decided", To = "stored", Count = 60, MeanMs = 4, P50Ms = 4.25, P90Ms = 5, P99Ms = 6, P999Ms = 7, MaxMs = 8,
                    },
                ],
                Programs =
                [
                    new ProgramUse("proxy", 1, 26_500, 6_890, 548, 400, 196, [new ThreadUse(".NET TP Worker", 9, 18_000, 4_000)])
                    {
                        Runtime = new RuntimeUse(7_606_000, 2, 1, 0, 256),
                    }.Per(1000),
                    new ProgramUse("postgres", 8, 25_700, 6_260, 88, 94, null, [new ThreadUse("postgres", 8, 25_700, 6_260)]).Per(1000),
                ],
                Database = new DatabaseUse(17, 1_036_000, [new StatementUse("select 'one'", 17, 3_040, 1000)]).Per(1000),
                Broker = BrokerCounts.Parse(
                [
                    "kafka.network:type=RequestMetrics,name=RequestsPerSec,request=Produce,version=12:Count=89",
                    "kafka.server:type=BrokerTopicMetrics,name=MessagesInPerSec,topic=billing.events:Count=1000",
                    "kafka.server:type=BrokerTopicMetrics,name=TotalProduceRequestsPerSec,topic=billing.events:Count=16",
                ]).Per(1000),
                Clients = [],
            },
        ],
        Audits = audits,
    };
}
