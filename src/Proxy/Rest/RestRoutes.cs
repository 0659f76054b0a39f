using System.Text.Json.Serialization;
using Billing.Proxy.Failures;

namespace Billing.Proxy.Rest;

/// <summary>How requests of one kind, or of kinds that belong together, are made over HTTP/1.1 and JSON, with the same
/// checks, admission and commands as over gRPC.</summary>
internal interface IRestRoute
{
    void Map(IEndpointRouteBuilder routes);
}

/// <summary>The kinds of requests that can be made over REST, each, or those that belong together,
/// in a file of its own.</summary>
internal static class RestRoutes
{
    public static IReadOnlyList<Type> All { get; } =
        [
            typeof(PaymentRoute), typeof(PaymentStatusRoute), typeof(TransactionRoute), typeof(HoldRoutes),
            typeof(RefundRoute), typeof(BalanceRoute), typeof(StatementRoute), typeof(OperatorRoutes),
        ];
}

/// <summary>Their JSON.</summary>
[JsonSourceGenerationOptions(
    GenerationMode = JsonSourceGenerationMode.Metadata,
    PropertyNamingPolicy = JsonKnownNamingPolicy.SnakeCaseLower,
    DefaultIgnoreCondition = JsonIgnoreCondition.WhenWritingNull,
    UnmappedMemberHandling = JsonUnmappedMemberHandling.Disallow,
    AllowDuplicateProperties = false)]
[JsonSerializable(typeof(PaymentBody))]
[JsonSerializable(typeof(PaymentAnswer))]
[JsonSerializable(typeof(PaymentStatusAnswer))]
[JsonSerializable(typeof(TransactionLookupBody))]
[JsonSerializable(typeof(TransactionAnswer))]
[JsonSerializable(typeof(AuthorisationBody))]
[JsonSerializable(typeof(AuthorisationAnswer))]
[JsonSerializable(typeof(CaptureBody))]
[JsonSerializable(typeof(CaptureAnswer))]
[JsonSerializable(typeof(VoidingBody))]
[JsonSerializable(typeof(VoidingAnswer))]
[JsonSerializable(typeof(RefundBody))]
[JsonSerializable(typeof(RefundAnswer))]
[JsonSerializable(typeof(AccountBalanceAnswer))]
[JsonSerializable(typeof(PastBalanceBody))]
[JsonSerializable(typeof(PastBalanceAnswer))]
[JsonSerializable(typeof(StatementAnswer))]
[JsonSerializable(typeof(StatementBody))]
[JsonSerializable(typeof(CreditLimitBody))]
[JsonSerializable(typeof(CreditLimitChangeAnswer))]
[JsonSerializable(typeof(AccountStatusBody))]
[JsonSerializable(typeof(AccountStatusChangeAnswer))]
[JsonSerializable(typeof(ProblemAnswer))]
internal sealed partial class RestJson : JsonSerializerContext;
