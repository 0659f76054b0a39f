using System.Text.RegularExpressions;

namespace Billing.UnitTests.House;

public sealed partial class SourceTests
{
    private const int LinesMax = 450;
    private const int FilesMax = 15;

    [Theory]
    [InlineData("src")]
    [InlineData("load")]
    [InlineData("polyfills")]
    public void No_source_file_is_longer_than_450_lines(string folder) =>
        Assert.DoesNotContain(Repository.Files(folder, "*.cs"), file => Repository.Lines(file).Length > LinesMax);

    /// <summary>But for the SDK, whose folders are parts of the one namespace that its users see.</summary>
    [Theory]
    [InlineData("src")]
    [InlineData("load")]
    public void A_folder_has_at_most_15_files_and_its_name_is_their_namespace(string folder)
    {
        var files = Repository.Files(folder, "*.cs").GroupBy(file => Path.GetDirectoryName(file)!).ToList();
        var misnamed =
            from file in files.SelectMany(file => file)
            where Path.GetDirectoryName(file) is not ("src/Client/Calls" or "src/Client/Streams")
            let expected = "namespace Billing."
                + string.Join('.', Path.GetDirectoryName(file)!.Split('/').Skip(1)) + ";"
            where Repository.Lines(file).FirstOrDefault(
                line => line.StartsWith("namespace ", StringComparison.Ordinal)) is { } line && line != expected
            select $"{file}: not {expected}";

        Assert.Empty(misnamed);
        Assert.DoesNotContain(files, files => files.Count() > FilesMax);
    }

    [Theory]
    [InlineData("src")]
    [InlineData("load")]
    [InlineData("polyfills")]
    [InlineData("tests")]
    public void No_type_is_called_a_manager_a_helper_or_utils(string folder)
    {
        var named =
            from file in Repository.Files(folder, "*.cs")
            from line in Repository.Lines(file)
            let match = VagueType().Match(line)
            where match.Success
            select $"{file}: {match.Groups[1].Value}";
        Assert.Empty(named);
    }

    /// <summary>BenchmarkDotNet derives from the class of a benchmark and silently ignores a sealed class.</summary>
    [Fact]
    public void No_benchmark_is_sealed()
    {
        var benchmarks = Repository.Files("load/Benchmarks", "*.cs")
            .Where(file => Repository.Lines(file).Any(line => line.Trim() == "[Benchmark]")).ToList();
        Assert.NotEmpty(benchmarks);
        Assert.DoesNotContain(benchmarks, file =>
            Repository.Lines(file).Any(line => line.StartsWith("public sealed class", StringComparison.Ordinal)));
    }

    /// <summary>Other clients would write librdkafka's own lines to standard error.</summary>
    [Fact]
    public void Only_KafkaClients_builds_clients_of_Kafka() => Assert.Equal(
        ["src/Messaging/Kafka/Clients/KafkaClients.cs"],
        Repository.Files("src", "*.cs").Concat(Repository.Files("load", "*.cs"))
            .Concat(Repository.Files("tests", "*.cs"))
            .Where(file => Repository.Lines(file).Any(line => ClientBuilder().IsMatch(line))));

    /// <summary>Loops that set a pace, and retries with bounds of their own. Everything else waits with
    /// <see cref="Poll"/>.</summary>
    private static readonly string[] Paced =
    [
        "load/Chaos/AccountOperator.cs", "load/Chaos/Faults/BrokerFaults.cs",
        "load/Chaos/Faults/FaultInjector.cs", "load/Chaos/Faults/TopicFaults.cs",
        "load/Chaos/Network/ServiceNetwork.cs", "load/Chaos/QueuedPayment.cs",
        "load/Chaos/ShardMover.cs", "load/Chaos/Soak.cs",
        "load/Chaos/UntilAnsweredChannel.cs", "load/Cli/Background/Keeper.cs",
        "load/Cli/Setup/Progress.cs", "load/Driver/OpenLoop.cs",
        "load/LocalStack/Postgres/LocalPostgres.cs", "load/LocalStack/Postgres/ReplicatedPostgres.cs",
        "load/LocalStack/Processes/ChildProcess.cs",
        "load/LocalStack/Processes/LossyDisk.cs", "load/LocalStack/Processes/Poll.cs",
        "load/Rpc/Rpcx/RpcxServer.cs", "load/Simulation/Services/BalanceBackendNode.cs",
        "load/Simulation/Services/WebhookNode.cs",
        "load/Simulation/Store/ShardMover.cs", "load/Simulation/Store/StoreOperator.cs",
        "tests/Billing.UnitTests/Proxy/PaymentStreamTests.cs",
    ];

    [Fact]
    public void Nothing_but_Poll_waits_in_a_loop() => Assert.Equal(
        Paced,
        Repository.Files("load", "*.cs").Concat(Repository.Files("tests", "*.cs")).Where(WaitsInLoop)
            .Order(StringComparer.Ordinal));

    private static bool WaitsInLoop(string file)
    {
        var lines = Repository.Lines(file);
        return Enumerable.Range(0, lines.Length)
            .Any(i => Wait().IsMatch(lines[i]) && HeadersOf(lines, i).Any(header => Loop().IsMatch(header)));
    }

    // The line itself, and what stands in front of each brace that encloses it.
    private static IEnumerable<string> HeadersOf(string[] lines, int line)
    {
        yield return lines[line];
        var (depth, isOpen) = (Indent(lines[line]), false);
        for (var i = line - 1; i >= 0 && depth > 4; i--)
        {
            if (isOpen && Indent(lines[i]) == depth)
            {
                yield return lines[i];
                isOpen = false;
            }
            else if (lines[i].Trim() == "{" && Indent(lines[i]) < depth)
            {
                (depth, isOpen) = (Indent(lines[i]), true);
            }
        }
    }

    private static int Indent(string line) => line.Length - line.TrimStart().Length;

    [Fact]
    public void The_source_files_are_found() => Assert.True(Repository.Files("src", "*.cs").Count() > 50);

    [GeneratedRegex(@"\b(?:class|record|struct|interface|enum)\s+(\w*(?:Manager|Helpers?|Utils?))\b")]
    private static partial Regex VagueType();

    [GeneratedRegex(@"await Task\.Delay\(|\.WaitForNextTickAsync\(|Thread\.Sleep\(")]
    private static partial Regex Wait();

    [GeneratedRegex(@"^\s*(?:while|for|foreach|do)\b|\}? *while \(")]
    private static partial Regex Loop();

    [GeneratedRegex(@"new (?:AdminClient|Producer|Consumer)Builder")]
    private static partial Regex ClientBuilder();
}
