using Billing.LocalStack.Kafka;
using Billing.Misuse;
using Billing.Misuse.Attacks;
using Billing.Misuse.Watching;

namespace Billing.ChaosTests;

/// <summary>A stack whose services have the limits of the units that are shipped.</summary>
public sealed class HostileStack : IAsyncLifetime
{
    private LimitedStack? _stack;

    internal LimitedStack Stack => _stack ?? throw new InvalidOperationException("The stack was not started.");

    public string? Missing { get; } =
        KafkaPrograms.FindHome() is null ? "Kafka is not installed: set KAFKA_HOME to its folder" : null;

    public async ValueTask InitializeAsync()
    {
        if (Missing is null)
        {
            _stack = await LimitedStack.StartAsync(new Progress<string>(), CancellationToken.None);
        }
    }

    public async ValueTask DisposeAsync()
    {
        if (_stack is not null)
        {
            await _stack.DisposeAsync();
        }
    }
}

/// <summary>A minute of <c>./billing misuse</c>: a few shapes, judged by all that does not depend on the
/// machine.</summary>
public sealed class HostileCallers(HostileStack fixture) : IClassFixture<HostileStack>
{
    private static readonly string[] Tried =
    [
        "unread-statements/grpc-h2c/valid/1x400", "body-unfinished/grpc-h2c/valid/20x1000",
        "connected/grpc-tls/none/1000x1", "headers-endless/grpc-h2c/valid/20x1", "streams-open/grpc-h2c/invalid/1x1000",
        "resets-rapid/rest-tls-h2/valid/20x1", "body-dripped/rest-h1/valid/20x1",
    ];

    private readonly LimitedStack _stack =
        fixture.Missing is null ? fixture.Stack : throw Xunit.Sdk.SkipException.ForSkip(fixture.Missing);

    private static CancellationToken Cancellation => TestContext.Current.CancellationToken;

    [Fact]
    public async Task Hostile_callers_end_no_process_stay_below_the_units_memory_and_others_are_served()
    {
        await using var run = new MisuseRun(_stack, Options(Tried), TimeProvider.System, _ => { });

        var trials = await run.RunAsync(Cancellation);

        Assert.Equal(Tried, trials.Select(trial => trial.Shape.Name));
        Assert.Empty(trials.SelectMany(trial => trial.Wrong.Select(wrong => $"{trial.Shape.Name}: {wrong}")));
        Assert.All(trials, trial => Assert.NotEqual("nothing", trial.Result.ToString()));
    }

    [Fact]
    public async Task A_proxy_that_ends_during_an_attack_is_found_and_runs_again_for_the_next_one()
    {
        var options = Options("connected/grpc-h2c/none/1000x1", "preface-missing/grpc-h2c/none/20x1");
        var proxy = _stack.Proxy(hasTls: false);
        await using var run = new MisuseRun(_stack, options, TimeProvider.System, line =>
        {
            if (line == options.Shapes[0].Name + " ...")
            {
                proxy.Process.Kill();
            }
        });

        var trials = await run.RunAsync(Cancellation);

        Assert.Contains($"{proxy.Process.Name} ended with exit code 137", trials[0].Wrong);
        Assert.Contains(trials[0].Wrong, wrong => wrong.Contains("of others failed", StringComparison.Ordinal));
        Assert.Empty(trials[1].Wrong);
        Assert.NotEqual(proxy.Process.Id, _stack.Proxy(hasTls: false).Process.Id);
    }

    [Fact]
    public void Each_service_runs_with_the_settings_and_in_the_memory_of_its_unit()
    {
        Assert.SkipWhen(_stack.Unlimited is not null, _stack.Unlimited ?? "");
        foreach (var service in _stack.Stack.Services)
        {
            var limits = UnitLimits.Of(service.Role);
            var environment = File.ReadAllText($"/proc/{service.Process.Id}/environ").Split('\0');
            Assert.All(limits.Environment, setting => Assert.Contains($"{setting.Key}={setting.Value}", environment));
            Assert.Equal(limits.MemoryMax, _stack.MemoryMaxOf(service));
        }
    }

    private static MisuseOptions Options(params string[] names) => new()
    {
        Shapes = [.. names.Select(name => Shapes.Named(name).Single())],
        AlwaysFirst = names.Length,
        JudgesWaits = false,
        Attack = TimeSpan.FromSeconds(2),
        Quiet = TimeSpan.FromSeconds(0.5),
        WarmUp = TimeSpan.FromSeconds(1),
        LongAccountEvents = 50,
    };
}
