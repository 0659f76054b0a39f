using Billing.IntegrationTests.Telemetry;
using Billing.LocalStack;

namespace Billing.IntegrationTests.Services;

/// <summary>Two proxies that call two backends, without Kafka.</summary>
public abstract class DirectStack(string protocol)
    : StackFixture(
        new StackOptions { Transport = "direct", Protocol = protocol, Proxies = 2, PaymentBackends = 2 },
        OtlpReceiver.WatchAsync);

/// <summary>Over gRPC.</summary>
public sealed class DirectGrpcStack() : DirectStack("grpc");

/// <summary>Over RPCX.</summary>
public sealed class DirectRpcxStack() : DirectStack("rpcx");

/// <summary>By direct calls over gRPC.</summary>
[Collection(OverDirectCalls.Name)]
public sealed class BillingOverDirectGrpc(DirectGrpcStack stack) : BillingBehaviour(stack);

/// <summary>By direct calls over gRPC.</summary>
[Collection(OverDirectCalls.Name)]
public sealed class StreamsOverDirectGrpc(DirectGrpcStack stack) : StreamBehaviour(stack);

/// <summary>By direct calls over gRPC.</summary>
[Collection(OverDirectCalls.Name)]
public sealed class LimitsAndStatementsOverDirectGrpc(DirectGrpcStack stack)
    : LimitsAndStatements(stack);

/// <summary>By direct calls over RPCX.</summary>
[Collection(OverDirectCalls.Name)]
public sealed class BillingOverDirectRpcx(DirectRpcxStack stack) : BillingBehaviour(stack);

/// <summary>By direct calls over RPCX.</summary>
[Collection(OverDirectCalls.Name)]
public sealed class StreamsOverDirectRpcx(DirectRpcxStack stack) : StreamBehaviour(stack);

/// <summary>By direct calls over RPCX.</summary>
[Collection(OverDirectCalls.Name)]
public sealed class LimitsAndStatementsOverDirectRpcx(DirectRpcxStack stack)
    : LimitsAndStatements(stack);
