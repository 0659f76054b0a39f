using Billing.Contracts;
using Billing.LocalStack;
using Billing.V1;
using Grpc.Core;

namespace Billing.ChaosTests;

/// <summary>Proxies that call the backends directly, with a card network that delays its answers.</summary>
public abstract class DirectChaosStack(string protocol) : StackFixture(new StackOptions
{
    Transport = "direct",
    Protocol = protocol,
    Proxies = 2,
    PaymentBackends = 2,
    Jitter = true,
    Settings = ChaosSettings.All,
});

/// <summary>Over gRPC.</summary>
public sealed class GrpcChaosStack() : DirectChaosStack("grpc");

/// <summary>Over RPCX.</summary>
public sealed class RpcxChaosStack() : DirectChaosStack("rpcx");

[CollectionDefinition(Name)]
public sealed class ByDirectGrpc : ICollectionFixture<GrpcChaosStack>
{
    public const string Name = "By direct calls over gRPC";
}

/// <summary>By direct calls, with one protocol only: failures of the store, overload and copies do
/// not depend on it.</summary>
[Collection(ByDirectGrpc.Name)]
public sealed class DirectFailureTable(GrpcChaosStack stack) : FailureTable(stack)
{
    protected override ServiceRole Backend => ServiceRole.DirectBackend;

    protected override ServiceRole Front => ServiceRole.Proxy;
}

/// <summary>By direct calls over gRPC.</summary>
[Collection(ByDirectGrpc.Name)]
public sealed class DirectGrpcFailures(GrpcChaosStack stack) : DirectFailures(stack);

/// <summary>By direct calls over RPCX.</summary>
public sealed class DirectRpcxFailures(RpcxChaosStack stack) : DirectFailures(stack), IClassFixture<RpcxChaosStack>;

/// <summary>The failures that are tested with each protocol of direct calls.</summary>
public abstract class DirectFailures(DirectChaosStack stack) : StackFailures(stack)
{
    [Fact]
    public async Task Accounts_of_a_dead_backend_are_unavailable_until_its_restart_and_the_others_are_served()
    {
        await using var traffic = Pay();
        await traffic.WaitForMoreAsync(100);
        var prefix = StackFixture.NewAccount();
        var requests = Enumerable.Range(0, 60).Select(i => StackFixture.Payment($"{prefix}-{i}")).ToList();
        var dead = Stack.Of(ServiceRole.DirectBackend).First();

        await KillAsync(dead);
        var failures = (await Task.WhenAll(requests.Select(request => FailureOfAsync(Fixture.Proxy(), request))))
            .OfType<RpcException>().ToList();
        var whileDead = await Fixture.CountEventsAsync(prefix + "-%");
        await Stack.AddAsync(dead.Role, dead.Number, CancellationToken.None);
        var answers = await Task.WhenAll(
            requests.Select(request => Conditions.RetryUntilAnsweredAsync(Fixture.Proxy(1), request)));

        Assert.InRange(failures.Count, 1, requests.Count - 1);
        Assert.All(failures, failure =>
        {
            Assert.Equal(StatusCode.Unavailable, failure.StatusCode);
            Assert.Equal(ErrorReasons.BackendUnavailable, failure.Reason());
        });
        Assert.Equal(requests.Count - failures.Count, whileDead);
        Assert.All(answers, answer => Assert.Equal(PaymentOutcome.Accepted, answer.Outcome));
        Assert.Equal(requests.Count, await Fixture.CountEventsAsync(prefix + "-%"));
        await traffic.EndCleanAsync();
    }

    [Fact]
    public async Task A_stopping_backend_answers_its_accepted_commands_and_has_every_balance_after_its_restart()
    {
        await using var traffic = Pay();
        await traffic.WaitForMoreAsync(100);
        var payments = await Task.WhenAll(Enumerable.Range(0, 40).Select(async _ =>
        {
            var request = StackFixture.Payment();
            await Conditions.RetryUntilAnsweredAsync(Fixture.Proxy(), request);
            return request;
        }));

        foreach (var backend in Stack.Of(ServiceRole.DirectBackend).ToList())
        {
            Assert.True(await backend.Process.StopAsync(Conditions.Patience));
            Assert.Equal(0, backend.Process.ExitCode);
            await Stack.AddAsync(backend.Role, backend.Number, CancellationToken.None);
        }

        foreach (var payment in payments)
        {
            var balance = await Fixture.Client().CheckBalanceAsync(
                new CheckBalanceRequest { AccountId = payment.AccountId, PaymentType = payment.PaymentType });
            Assert.Equal(10, balance.Balance.ToDecimal());
        }
        await traffic.EndCleanAsync();
    }
}
