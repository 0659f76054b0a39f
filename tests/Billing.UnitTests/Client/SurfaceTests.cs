using System.Reflection;
using Billing.Client;
using Billing.UnitTests.Testing;
using Billing.V1;
using Grpc.Core;
using Grpc.Core.Interceptors;
using AccountStatus = Billing.Client.AccountStatus;
using DeclineReason = Billing.Client.DeclineReason;

namespace Billing.UnitTests.Client;

/// <summary>What callers of the SDK see: types of its own, of the base library, of Microsoft.Extensions, and those of
/// gRPC that hooks take.</summary>
public sealed class SurfaceTests
{
    private const BindingFlags Declared = BindingFlags.Public | BindingFlags.NonPublic | BindingFlags.Instance
        | BindingFlags.Static | BindingFlags.DeclaredOnly;

    private static readonly string[] OfHooks =
    [
        "Grpc.Core.CallInvoker", "Grpc.Core.RpcException", "Grpc.Core.Interceptors.Interceptor",
    ];

    [Fact]
    public void No_generated_type_and_none_of_a_third_party_is_in_it() => Assert.Empty(
        from type in typeof(BillingClient).Assembly.GetExportedTypes()
        from used in Used(type)
        where !IsAllowed(used)
        select $"{type.FullName} has {used.FullName}");

    [Fact]
    public void All_of_it_is_in_two_namespaces() => Assert.Equal(
        ["Billing.Client", "Billing.Client.Testing"],
        typeof(BillingClient).Assembly.GetExportedTypes().Select(type => type.Namespace).Distinct()
            .Order(StringComparer.Ordinal));

    /// <summary>So that a class that stands in for a client compiles when it gets further methods.</summary>
    [Theory]
    [InlineData(typeof(BillingClient))]
    [InlineData(typeof(BillingAdminClient))]
    public void What_a_client_does_can_be_overridden(Type client)
    {
        var members = client.GetMethods(BindingFlags.Public | BindingFlags.Instance | BindingFlags.DeclaredOnly)
            .Where(method => method.Name != "Dispose").ToList();

        Assert.NotEmpty(members);
        Assert.All(members, method => Assert.True(method is { IsVirtual: true, IsFinal: false }, method.Name));
        Assert.Contains(
            client.GetConstructors(Declared),
            constructor => constructor.IsFamily && constructor.GetParameters().Length == 0);
    }

    [Fact]
    public async Task Each_method_of_the_API_has_a_call()
    {
        var seen = new Seen();
        using var client = new BillingClient(Options());
        using var admin = new BillingAdminClient(Options());
        foreach (var caller in (object[])[client, admin])
        {
            foreach (var call in SdkCalls.Of(caller))
            {
                await Record.ExceptionAsync(() => SdkCalls.MakeAsync(caller, call));
            }
        }

        Assert.Equal(
            ApiMethods.Unary.Select(method => method.Data).Order(StringComparer.Ordinal),
            seen.Methods.Order(StringComparer.Ordinal));

        BillingClientOptions Options() => new() { Proxies = { "http://localhost:1" }, Interceptors = { seen } };
    }

    [Fact]
    public async Task A_class_that_stands_in_for_a_client_may_override_only_what_is_called()
    {
        using var client = new Declining();
        var payment = new Payment(new CardAccount(CardNetwork.Visa, "a"), new Amount(1, "USD"));

        Assert.Equal(DeclineReason.AccountFrozen, Expect.Declined(await client.PayAsync(payment)).Reason);
        await Assert.ThrowsAsync<NotSupportedException>(() => client.GetBalanceAsync(payment.Account));
    }

    /// <summary>Values are converted by their number.</summary>
    [Theory]
    [InlineData(typeof(CardNetwork), typeof(PaymentType))]
    [InlineData(typeof(AccountStatus), typeof(V1.AccountStatus))]
    [InlineData(typeof(DeclineReason), typeof(V1.DeclineReason))]
    [InlineData(typeof(StatementLineType), typeof(StatementEntryType))]
    public void The_values_of_an_enum_are_those_of_the_contract(Type own, Type contract) => Assert.Equal(
        Enum.GetValuesAsUnderlyingType(contract).Cast<int>().Where(number => number != 0)
            .Select(number => (number, Enum.GetName(contract, number))),
        Enum.GetValuesAsUnderlyingType(own).Cast<int>().Where(number => number != 0)
            .Select(number => (number, Enum.GetName(own, number))));

    [Fact]
    public void Notes_are_those_of_the_contract_and_equal_by_their_contents()
    {
        var notes = new Billing.Client.Notes("order 7", new Dictionary<string, string> { ["shop"] = "Bern" });

        Assert.Equal(notes, Billing.Client.Notes.Of(notes.ToMessage()));
        Assert.Equal(notes.GetHashCode(), Billing.Client.Notes.Of(notes.ToMessage())!.GetHashCode());
        Assert.NotEqual(notes, notes with { Reference = "order 8" });
        Assert.DoesNotContain("Bern", notes.ToString(), StringComparison.Ordinal);
        Assert.Null(Billing.Client.Notes.Of(new PaymentNotes()));
    }

    private static bool IsAllowed(Type type) =>
        type.IsGenericParameter || type.Assembly == typeof(BillingClient).Assembly || OfHooks.Contains(type.FullName)
        || type.Namespace is { } name
            && (name == "System" || name.StartsWith("System.", StringComparison.Ordinal)
                || name.StartsWith("Microsoft.Extensions.", StringComparison.Ordinal));

    private static IEnumerable<Type> Used(Type type)
    {
        var methods = type.GetMethods(Declared).Where(IsSeen).ToList();
        return methods.Select(method => method.ReturnType)
            .Concat(methods.Cast<MethodBase>().Concat(type.GetConstructors(Declared).Where(IsSeen))
                .SelectMany(method => method.GetParameters()).Select(parameter => parameter.ParameterType))
            .Concat(type.GetFields(Declared).Where(field => field.IsPublic || field.IsFamily)
                .Select(field => field.FieldType))
            .Concat(type.GetInterfaces()).Append(type.BaseType ?? typeof(object))
            .SelectMany(Parts);
    }

    private static bool IsSeen(MethodBase method) => method.IsPublic || method.IsFamily || method.IsFamilyOrAssembly;

    private static IEnumerable<Type> Parts(Type type) =>
        type.HasElementType ? Parts(type.GetElementType()!)
            : type.IsGenericType ? type.GetGenericArguments().SelectMany(Parts).Append(type)
            : [type];

    private sealed class Declining : BillingClient
    {
        public override Task<Outcome<PaymentAnswer>> PayAsync(
            Payment payment, TimeSpan? deadline = null, CancellationToken cancellationToken = default) =>
            Task.FromResult(Outcome.Declined<PaymentAnswer>(payment.Id, new Decline
            {
                Reason = DeclineReason.AccountFrozen,
                Message = "The account is frozen.",
                Balance = new Amount(0, "USD"),
                Version = 1,
            }));
    }

    /// <summary>Keeps the names of the methods that are called, and refuses the calls.</summary>
    private sealed class Seen : Interceptor
    {
        public HashSet<string> Methods { get; } = new(StringComparer.Ordinal);

        public override AsyncUnaryCall<TResponse> AsyncUnaryCall<TRequest, TResponse>(
            TRequest request, ClientInterceptorContext<TRequest, TResponse> context,
            AsyncUnaryCallContinuation<TRequest, TResponse> continuation)
        {
            Methods.Add(context.Method.Name);
            throw new RpcException(new Status(StatusCode.Unauthenticated, ""));
        }
    }
}
