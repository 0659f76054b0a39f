using Billing.V1;
using Google.Protobuf.Reflection;
using Grpc.Core;
using Grpc.Health.V1;
using Grpc.Net.Client;
using Grpc.Reflection.V1;

namespace Billing.IntegrationTests.Services;

/// <summary>The answers that a proxy gives itself, without sending a command to a backend.</summary>
public abstract class FrontBehaviour
{
    private readonly StackFixture _stack;

    protected FrontBehaviour(StackFixture stack)
    {
        Assert.SkipWhen(stack.Missing is not null, stack.Missing ?? "");
        _stack = stack;
    }

    [Theory]
    [InlineData("transaction_id", "not-a-uuid", "acct", 1, 1, 0, "USD")]
    [InlineData("transaction_id", "", "acct", 1, 1, 0, "USD")]
    [InlineData("account_id", null, "", 1, 1, 0, "USD")]
    [InlineData("account_id", null, "a/b", 1, 1, 0, "USD")]
    [InlineData("payment_type", null, "acct", 0, 1, 0, "USD")]
    [InlineData("payment_type", null, "acct", 9, 1, 0, "USD")]
    [InlineData("amount", null, "acct", 1, 0, 0, "USD")]
    [InlineData("amount", null, "acct", 1, -1, 0, "USD")]
    [InlineData("amount.units", null, "acct", 1, 1_000_000_001, 0, "USD")]
    [InlineData("amount.nanos", null, "acct", 1, 1, -1, "USD")]
    [InlineData("amount.nanos", null, "acct", 1, 1, 1_000_000_000, "USD")]
    [InlineData("amount.nanos", null, "acct", 1, 1, 5_000_000, "USD")]
    [InlineData("amount.nanos", null, "acct", 1, 1, 500_000_000, "JPY")]
    [InlineData("amount.currency_code", null, "acct", 1, 1, 0, "usd")]
    [InlineData("amount.currency_code", null, "acct", 1, 1, 0, "USE")]
    public async Task An_invalid_field_is_rejected_with_its_name(
        string field, string? transactionId, string account, int type, long units, int nanos, string currency)
    {
        var request = new MakePaymentRequest
        {
            TransactionId = transactionId ?? Guid.NewGuid().ToString(),
            AccountId = account,
            PaymentType = (PaymentType)type,
            Amount = new Money { CurrencyCode = currency, Units = units, Nanos = nanos },
        };

        var failure = await Assert.ThrowsAsync<RpcException>(
            () => _stack.Proxy().MakePaymentAsync(request).ResponseAsync);

        Assert.Equal(StatusCode.InvalidArgument, failure.StatusCode);
        Assert.Equal(field, failure.Field());
        Assert.StartsWith(field + " ", failure.Status.Detail, StringComparison.Ordinal);
    }

    [Fact]
    public async Task A_request_of_two_megabytes_is_rejected_with_the_setting_that_limits_it()
    {
        var request = StackFixture.Payment(account: new string('a', 2_000_000));

        var failure = await Assert.ThrowsAsync<RpcException>(
            () => _stack.Proxy().MakePaymentAsync(request).ResponseAsync);

        Assert.Equal(StatusCode.InvalidArgument, failure.StatusCode);
        Assert.Contains("Billing:Proxy:RequestBytesMax", failure.Status.Detail, StringComparison.Ordinal);
    }

    [Fact]
    public async Task Health_reports_serving_for_the_process_and_for_the_service()
    {
        using var channel = GrpcChannel.ForAddress(_stack.Stack.ProxyAddresses[0]);
        var health = new Health.HealthClient(channel);

        foreach (var service in new[] { "", "billing.v1.BillingService" })
        {
            var answer = await health.CheckAsync(new HealthCheckRequest { Service = service });
            Assert.Equal(HealthCheckResponse.Types.ServingStatus.Serving, answer.Status);
        }
    }

    [Fact]
    public async Task Reflection_lists_the_services_and_describes_the_public_one_with_its_imports()
    {
        using var channel = GrpcChannel.ForAddress(_stack.Stack.ProxyAddresses[0]);
        using var call = new ServerReflection.ServerReflectionClient(channel).ServerReflectionInfo();

        await call.RequestStream.WriteAsync(new ServerReflectionRequest { ListServices = "*" });
        await call.RequestStream.WriteAsync(
            new ServerReflectionRequest { FileContainingSymbol = "billing.v1.BillingService" });
        await call.RequestStream.WriteAsync(
            new ServerReflectionRequest { FileContainingSymbol = "billing.v1.Nothing" });
        await call.RequestStream.CompleteAsync();
        var answers = new List<ServerReflectionResponse>();
        while (await call.ResponseStream.MoveNext(CancellationToken.None))
        {
            answers.Add(call.ResponseStream.Current);
        }

        Assert.Contains("billing.v1.BillingService", answers[0].ListServicesResponse.Service.Select(s => s.Name));
        var files = answers[1].FileDescriptorResponse.FileDescriptorProto
            .Select(FileDescriptorProto.Parser.ParseFrom).ToList();
        Assert.Equal(
            ["billing/v1/billing.proto", "google/protobuf/duration.proto", "google/protobuf/timestamp.proto"],
            files.Select(f => f.Name));
        Assert.Equal((int)StatusCode.NotFound, answers[2].ErrorResponse.ErrorCode);
    }
}

/// <summary>The proxy program, which is the same over Kafka and with direct calls.</summary>
[Collection(OverKafka.Name)]
public sealed class ProxyFront(KafkaStack stack) : FrontBehaviour(stack);

/// <summary>The program that contains all services.</summary>
[Collection(InOneProcess.Name)]
public sealed class EmbeddedFront(EmbeddedStack stack) : FrontBehaviour(stack);
