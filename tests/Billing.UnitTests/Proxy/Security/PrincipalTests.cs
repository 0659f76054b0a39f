using Billing.Contracts;
using Billing.UnitTests.Testing;
using Billing.V1;
using Billing.Wire.V1;
using Grpc.Core;

namespace Billing.UnitTests.Proxy.Security;

/// <summary>Who sent a command, as the proxy tells the backends.</summary>
public sealed class PrincipalTests : IAsyncLifetime
{
    private static readonly TimeSpan Lifetime = TimeSpan.FromMinutes(5);

    private SecureProxy _proxy = null!;

    public async ValueTask InitializeAsync() => _proxy = await SecureProxy.StartAsync();

    public ValueTask DisposeAsync() => _proxy.DisposeAsync();

    [Theory]
    [InlineData("alice", "web", "alice", "web")]
    [InlineData("alice", null, "alice", "")]
    [InlineData("", "batch", "batch", "batch")]
    public async Task A_command_names_the_subject_and_the_client_of_the_token_that_it_came_with(
        string subject, string? clientId, string expected, string expectedClient)
    {
        var token = _proxy.Tokens.Issue(subject, ["payments:write"], ["*/*"], Lifetime, clientId);

        await _proxy.Client(token).MakePaymentAsync(Samples.Payment());

        Assert.Equal(
            new Principal { Subject = expected, ClientId = expectedClient },
            Assert.Single(_proxy.Backend.Commands).Principal);
    }

    [Theory]
    [InlineData("a\0b", null)]
    [InlineData("a\nb", null)]
    [InlineData("alice", "a\u0085b")]
    [InlineData("a\u202Eb", null)]
    [InlineData("certificate:shop", null)]
    [InlineData("alice", "certificate:shop")]
    public async Task A_token_whose_names_cannot_be_stored_is_invalid(string subject, string? clientId)
    {
        string[] tokens =
        [
            _proxy.Tokens.Issue(subject, ["payments:write"], ["*/*"], Lifetime, clientId),
            _proxy.Tokens.Issue(new string('a', 256), ["payments:write"], ["*/*"], Lifetime),
        ];

        foreach (var token in tokens)
        {
            var refused = await Assert.ThrowsAsync<RpcException>(
                () => _proxy.Client(token).MakePaymentAsync(Samples.Payment()).ResponseAsync);
            Assert.Equal(ErrorReasons.TokenInvalid, refused.Reason());
        }
        Assert.Empty(_proxy.Backend.Commands);
    }

    [Theory]
    [InlineData("accounts:read", false)]
    [InlineData("accounts:read operations:read", true)]
    public async Task Only_administrators_are_told_who_caused_the_entries_of_a_statement(string scopes, bool areTold)
    {
        _proxy.Backend.Answer = _ => Task.FromResult(new Reply { Statement = new StatementPage() });
        var token = _proxy.Tokens.Issue("alice", scopes.Split(' '), ["*/*"], Lifetime);
        using var call = _proxy.Client(token)
            .StreamStatement(new ListStatementRequest { AccountId = "a", PaymentType = PaymentType.Visa });
        using var http = _proxy.Http(token);

        Assert.True(await call.ResponseStream.MoveNext(TestContext.Current.CancellationToken));
        Assert.False(await call.ResponseStream.MoveNext(TestContext.Current.CancellationToken));
        using var page = await http.GetAsync(
            new Uri(_proxy.Rest, "/v1/accounts/VISA/a/statement"), TestContext.Current.CancellationToken);

        Assert.Equal([areTold, areTold], _proxy.Backend.Commands.Select(command => command.Statement.WithPrincipals));
    }
}
