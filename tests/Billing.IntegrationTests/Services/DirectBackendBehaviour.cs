using System.Net;
using System.Net.Http.Headers;
using System.Text.Json;
using Billing.Contracts;
using Billing.LocalStack;
using Billing.Rpc;
using Billing.Wire.V1;
using Grpc.Core;
using Grpc.Net.Client;

namespace Billing.IntegrationTests.Services;

/// <summary>The answers of a backend that is called directly, without a proxy.</summary>
[Collection(OverDirectCalls.Name)]
public sealed class DirectBackendBehaviour(DirectGrpcStack grpc, DirectRestStack rest)
{
    [Fact]
    public async Task A_command_that_violates_a_rule_is_rejected_over_gRPC_and_the_backend_continues()
    {
        using var channel = GrpcChannel.ForAddress("http://" + CommandAddress(grpc));
        var backend = new Backend.BackendClient(channel);

        var empty = await backend.ExecuteAsync(new Command());
        var other = await backend.ExecuteAsync(Forged());
        var paid = await backend.ExecuteAsync(Payment());

        AssertRefused(empty);
        AssertRefused(other);
        Assert.Equal(1, paid.Payment.Version);
    }

    [Fact]
    public async Task A_command_that_violates_a_rule_is_rejected_over_REST_and_the_backend_continues()
    {
        using var http = new HttpClient { BaseAddress = new Uri("http://" + CommandAddress(rest)) };

        var other = await PostAsync(http, JsonSerializer.Serialize(Forged(), WireJson.Command));
        var paid = await PostAsync(http, JsonSerializer.Serialize(Payment(), WireJson.Command));

        AssertRefused(other.Reply!);
        Assert.Equal(1, paid.Reply!.Payment.Version);
    }

    [Theory]
    [InlineData("")]
    [InlineData("null")]
    [InlineData("[]")]
    [InlineData("{\"transaction_id\":null}")]
    [InlineData("{\"payment\":5}")]
    [InlineData("garbage")]
    public async Task A_body_that_is_no_command_is_a_bad_request(string body)
    {
        using var http = new HttpClient { BaseAddress = new Uri("http://" + CommandAddress(rest)) };

        Assert.Equal(HttpStatusCode.BadRequest, (await PostAsync(http, body)).Status);
    }

    [Fact]
    public async Task Health_is_served_over_HTTP_1_at_a_separate_address()
    {
        foreach (var backend in grpc.Stack.Of(ServiceRole.DirectBackend).Concat(rest.Stack.Of(ServiceRole.DirectBackend)))
        {
            using var http = new HttpClient { BaseAddress = new Uri(backend.Address) };
            Assert.Equal("live", await http.GetStringAsync(new Uri("/health/live", UriKind.Relative)));
            Assert.Contains("ready", await http.GetStringAsync(new Uri("/health/ready", UriKind.Relative)), StringComparison.Ordinal);
        }
    }

    private static string CommandAddress(StackFixture stack) => stack.Stack.BackendAddresses[0];

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

    private static async Task<(HttpStatusCode Status, Reply? Reply)> PostAsync(HttpClient http, string body)
    {
        using var content = new StringContent(body, new MediaTypeHeaderValue("application/json"));
        using var response = await http.PostAsync(new Uri(WireJson.Path, UriKind.Relative), content);
        return (response.StatusCode, response.IsSuccessStatusCode
            ? JsonSerializer.Deserialize(await response.Content.ReadAsStringAsync(), WireJson.Reply)
            : null);
    }
}
