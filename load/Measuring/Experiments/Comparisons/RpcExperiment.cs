using System.Text.Json.Nodes;
using Billing.Driver;
using Billing.LocalStack.Processes;
using Billing.Measuring.Experiments.Echo;
using Billing.Measuring.Loads;
using Billing.Measuring.Processes;
using Billing.Reporting;

namespace Billing.Measuring.Experiments.Comparisons;

/// <summary>RPCX compared with gRPC and REST as in its paper: a number of callers, each of which makes a number of
/// calls in sequence.</summary>
internal static class RpcExperiment
{
    // Enough to remove the advantage of a single connection, and few for hundreds of callers.
    private const int ManyConnections = 8;
    private const int WarmUpCallers = 100;

    // The first is what the others are compared with.
    private static readonly string[] Sides = [Protocols.Grpc, Protocols.Rpcx, Protocols.Rest];

    /// <summary>The grid.</summary>
    /// <param name="Threads">Concurrent callers, ascending.</param>
    /// <param name="Requests">Requests of each caller, ascending.</param>
    /// <param name="Rounds">Measured rounds.</param>
    /// <param name="Connections">Connections of the protocols that multiplex calls.</param>
    /// <param name="WarmUp">Requests of each of a hundred callers before a measurement.</param>
    public sealed record Grid(
        IReadOnlyList<int> Threads, IReadOnlyList<int> Requests, int Rounds, int Connections = 1, int WarmUp = 300)
    {
        /// <summary>The paper's range in few steps, with the callers that its text names: 100, 300 and 500.</summary>
        public static Grid Default { get; } = new([10, 100, 300, 500, 990], [10, 100, 900], Rounds: 5);

        /// <summary>The paper's grid: 10 to 990 callers in steps of 100, 10 to 900 requests in steps of 200,
        /// ten runs.</summary>
        public static Grid Full { get; } = new(
            [10, 110, 210, 310, 410, 510, 610, 710, 810, 910, 990], [10, 210, 410, 610, 810, 900], Rounds: 9);

        /// <summary>For a first impression.</summary>
        public static Grid Quick { get; } = new([10, 100, 500], [10, 100], Rounds: 3);
    }

    public static Experiment Plan(Grid grid)
    {
        Conditions usual = new(grid.Connections);
        Conditions[] others =
        [
            .. new[]
            {
                usual with { Connections = Math.Max(ManyConnections, grid.Connections) },
                usual with { HasPoolDispatch = true },
                usual with { HasDefaultRuntime = true },
                new Conditions(
                    Math.Max(ManyConnections, grid.Connections), HasPoolDispatch: true, HasDefaultRuntime: true),
            }.Where(other => other != usual),
        ];
        var varied = (Threads: grid.Threads[^1], Requests: grid.Requests[grid.Requests.Count / 2]);
        return new Experiment
        {
            Kind = "compare-rpc",
            Title = "RPCX against gRPC and REST",
            Paper = Sources.Rpcx,
            Facts =
            [
                new Fact(
                    "The paper",
                    "RPCX took 55.9 to 88.9 % less time and made 126.9 to 802.8 % more calls per second than gRPC and "
                        + "OpenFeign together, in Java, on two 1-core machines: ratios of 2.27 to 9.03; "
                        + "its TPS is requests / time without the callers, and the ratios are the same"),
                new Fact(
                    "Method",
                    "callers are asynchronous, on the thread pool of one process; each makes its requests in sequence; "
                        + "RPCX and gRPC share the given connections, REST has one for each caller; "
                        + "messages, work and timeouts are the same; calls per core second are calls divided by the "
                        + "processor seconds of client and server together, in nanoseconds"),
                new Fact(
                    "In favour of RPCX",
                    "a single connection for all callers, answers on the thread that reads it, and the platform's "
                        + "runtime settings: one configuration is also measured without each of them, and without all"),
            ],
            Sections =
            [
                .. new[] { usual }.Concat(others).Select(conditions => new SectionPlan(
                    conditions.ToString(), "Callers x requests", Figure.PerCoreS,
                    Figure.PerSecond, Figure.DurationS, Figure.Failed)
                {
                    Compared = Figure.PerCoreS,
                }),
            ],
            Parts =
            [
                PartOf(usual, [.. from threads in grid.Threads
                                  from requests in grid.Requests
                                  select (threads, requests)], grid),
                .. others.Select(conditions => PartOf(conditions, [varied], grid)),
            ],
        };
    }

    private static Part PartOf(
        Conditions conditions, IReadOnlyList<(int Threads, int Requests)> cells, Grid grid) => new(
        [
            .. Sides.Select(protocol => new SidePlan(
                protocol, cancellationToken => Echoes.StartAsync(protocol, conditions, cancellationToken))),
        ],
        [
            .. cells.Select(cell => Case.Of(
                conditions.ToString(), $"{Numbers.Whole(cell.Threads)} x {Numbers.Whole(cell.Requests)}", new LoadSpec
                {
                    Addresses = [],
                    Connections = conditions.Connections,
                    WarmUp = new LoadShape.Closed(WarmUpCallers, 3600) { AmountOfEach = grid.WarmUp },
                    Shape = new LoadShape.Closed(cell.Threads, 3600) { AmountOfEach = cell.Requests },
                })),
        ],
        grid.Rounds);

    /// <summary>Conditions that affect the sides differently.</summary>
    /// <param name="Connections">Connections of RPCX and of gRPC each. A single one favours RPCX, which writes all
    /// pending messages of a connection together.</param>
    /// <param name="HasPoolDispatch">Whether the RPCX server answers on the thread pool, as those of
    /// gRPC and REST do.</param>
    /// <param name="HasDefaultRuntime">Whether the servers run with .NET's default runtime settings.</param>
    private sealed record Conditions(int Connections, bool HasPoolDispatch = false, bool HasDefaultRuntime = false)
    {
        public override string ToString() =>
            $"{Numbers.Counted(Connections, "connection")}, RPCX answering on "
            + $"{(HasPoolDispatch ? "the thread pool" : "the reading thread")}, servers with "
            + $"{(HasDefaultRuntime ? ".NET's default" : "the platform's")} runtime settings";
    }

    /// <summary>A server in a process of its own, and its callers in this one.</summary>
    private sealed class Echoes(string protocol, EchoProcess server, FreePorts ports, string folder) : Side(protocol)
    {
        private readonly ProcessClock _serverClock = new(server.Id);

        public static async Task<Side> StartAsync(
            string protocol, Conditions conditions, CancellationToken cancellationToken)
        {
            var ports = new FreePorts();
            var folder = Directory.CreateTempSubdirectory("billing-rpc-").FullName;
            try
            {
                var server = await EchoProcess.StartAsync(
                    protocol, ports.Take(), folder,
                    ["--dispatch", conditions.HasPoolDispatch ? EchoServer.PoolDispatch : EchoServer.InlineDispatch],
                    cancellationToken,
                    conditions.HasDefaultRuntime ? await DefaultRuntimeAsync(folder, cancellationToken) : []);
                return new Echoes(protocol, server, ports, folder);
            }
            catch
            {
                ports.Dispose();
                Directory.Delete(folder, recursive: true);
                throw;
            }
        }

        public override async Task<LoadFigures> LoadAsync(
            LoadSpec load, int drivers, CancellationToken cancellationToken)
        {
            // HTTP/1.1 opens the connections that it needs.
            var spec =
                load with { Addresses = [server.Address], Connections = Name == Protocols.Rest ? 1 : load.Connections };
            await using var driver = new LoadDriver(
                spec, TimeProvider.System, _ => EchoChannel.Create(Name, server.Port));
            await driver.WarmUpAsync(cancellationToken);
            var (serverBefore, clientBefore) = (_serverClock.Used(), Environment.CpuUsage.TotalTime);
            var result = await driver.RunAsync(cancellationToken);
            return LoadFigures.Of([result], new Dictionary<string, double>
            {
                ["server"] = (_serverClock.Used() - serverBefore).TotalSeconds,
                [LoadFigures.Client] = (Environment.CpuUsage.TotalTime - clientBefore).TotalSeconds,
            });
        }

        public override async ValueTask DisposeAsync()
        {
            await server.DisposeAsync();
            ports.Dispose();
            Directory.Delete(folder, recursive: true);
        }

        // Options that start a program without the runtime settings of its own file.
        private static async Task<string[]> DefaultRuntimeAsync(string folder, CancellationToken cancellationToken)
        {
            var settings = JsonNode.Parse(await File.ReadAllTextAsync(
                Path.ChangeExtension(DotnetProgram.FileOf("Billing.Cli"), ".runtimeconfig.json"), cancellationToken))!;
            settings["runtimeOptions"]!.AsObject().Remove("configProperties");
            var file = Path.Combine(folder, "default.runtimeconfig.json");
            await File.WriteAllTextAsync(file, settings.ToJsonString(), cancellationToken);
            return ["exec", "--runtimeconfig", file];
        }
    }
}
