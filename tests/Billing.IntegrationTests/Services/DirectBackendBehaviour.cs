using Billing.Contracts;
using Billing.LocalStack;
using Billing.Wire.V1;
using Grpc.Core;
using Grpc.Net.Client;

namespace Billing.IntegrationTests.Services;

/// <summary>The answers of a backend that is called directly, without a proxy.</summary>
[Collection(OverDirectCalls.Name)]
public sealed class DirectBackendBehaviour(DirectGrpcStack grpc, DirectRpcxStack rpcx)
{
    [Fact]
    public async Task A_command_that_violates_a_rule_is_rejected_and_the_backend_continues()
    {
        using var channel = GrpcChannel.ForAddress("http://" + grpc.Stack.BackendAddresses[0]);
        var backend = new Backend.BackendClient(channel);

        var empty = await backend.ExecuteAsync(new Command());
        var other = await backend.ExecuteAsync(Forged());
        var paid = await backend.ExecuteAsync(Payment());

        AssertRefused(empty);
        AssertRefused(other);
        Assert.Equal(1, paid.Payment.Version);
    }

    [Fact]
    public async Task Health_is_served_over_HTTP_1_at_a_separate_address()
    {
        foreach (var backend in grpc.Stack.Of(ServiceRole.DirectBackend)
            .Concat(rpcx.Stack.Of(ServiceRole.DirectBackend)))
        {
            using var http = new HttpClient { BaseAddress = new Uri(backend.Address) };
            Assert.Equal("live", await http.GetStringAsync(new Uri("/health/live", UriKind.Relative)));
            Assert.Contains(
                "ready", await http.GetStringAsync(new Uri("/health/ready", UriKind.Relative)),
                StringComparison.Ordinal);
        }
    }

    private static Command Payment()
    {
        var payment = StackFixture.Payment();
        return new Command { TransactionId = payment.TransactionId, Payment = payment };
    }

    private static Command Forged()
    {
        var command = Payment();
        command.TransactionId = Guid.NewGuid().ToString();
        return command;
    }

    private static void AssertRefused(Reply reply)
    {
        Assert.Equal((int)StatusCode.Internal, reply.Error.StatusCode);
        Assert.Equal(ErrorReasons.ProcessingFailed, reply.Error.Reason);
    }
}
