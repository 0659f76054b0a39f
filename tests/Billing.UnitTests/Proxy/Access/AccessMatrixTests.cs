using Billing.Contracts;
using Billing.Messaging.Requests;
using Billing.UnitTests.Proxy.Security;
using Billing.UnitTests.Testing;
using Microsoft.AspNetCore.Authorization;

namespace Billing.UnitTests.Proxy.Access;

/// <summary>Everything that a proxy does for anybody, at both of its addresses, for callers with every set of scopes
/// and accounts: who is let in, and what the others are told.</summary>
public sealed class AccessMatrixTests : IAsyncLifetime
{
    private SecureProxy _proxy = null!;

    public async ValueTask InitializeAsync()
    {
        _proxy = await SecureProxy.StartAsync();
        _proxy.Backend.Answer = command => Task.FromResult(CompleteReplies.To(command));
    }

    public ValueTask DisposeAsync() => _proxy.DisposeAsync();

    [Fact]
    public Task Every_method_is_for_callers_with_its_scope_and_the_account() => TryAllAsync(GrpcDoors.Of(_proxy));

    [Fact]
    public Task Every_route_is_for_callers_with_its_scope_and_the_account() => TryAllAsync(RestDoors.Of(_proxy));

    [Fact]
    public Task Every_page_is_for_callers_with_its_scope_and_the_account() => TryAllAsync(RestDoors.PagesOf(_proxy));

    [Fact]
    public Task Every_call_of_the_SDK_is_for_callers_with_its_scope_and_the_account() =>
        TryAllAsync(SdkDoors.Of(_proxy));

    [Fact]
    public void Each_endpoint_needs_exactly_one_scope_or_is_for_everybody()
    {
        var endpoints = _proxy.Host.Endpoints.Select(endpoint => (
            Name: endpoint.RoutePattern.RawText,
            Scopes: string.Join(' ', endpoint.Metadata.OfType<IAuthorizeData>().Select(needed => needed.Policy)),
            IsOpen: endpoint.Metadata.GetMetadata<IAllowAnonymous>() is not null)).ToList();

        Assert.DoesNotContain(endpoints, one => one.Scopes.Contains(' ')
            || (one.Scopes.Length > 0 && (one.IsOpen || !Scopes.All.Contains(one.Scopes))));
        // The fallback, for what is not there, is for everybody with a token.
        Assert.DoesNotContain(endpoints, one => one.Scopes.Length == 0 && !one.IsOpen
            && one.Name?.Contains("{unimplemented", StringComparison.Ordinal) != true);
    }

    [Fact]
    public void The_page_for_operators_has_each_method_route_and_page_and_each_kind_of_request_has_its_scope()
    {
        var doors = GrpcDoors.Of(_proxy).Concat(RestDoors.Of(_proxy)).Concat(RestDoors.PagesOf(_proxy)).ToList();

        Assert.Equal(doors.Select(door => door.Name).Distinct().Order(), Door.DocumentedNames.Order());
        Assert.Equal(ApiMethods.All.Select(method => method.Name).Order(), SdkDoors.Methods.Order());
        Assert.Equal(
            Scopes.All, Repository.Rows("docs/operations/secure.md", "| scope | lets its bearer use |")
                .Select(row => row[0].Trim('`')));
        Assert.All(ApiMethods.All, method => Assert.Equal(
            (method.Name, doors.First(door => door.Name == method.Name).Scope),
            (method.Name, RequestKinds.OfCallers(method.InputType).Scope)));
    }

    private async Task TryAllAsync(IEnumerable<Door> doors)
    {
        var (wrong, letIn, tried) = (new List<string>(), 0, 0);
        foreach (var door in doors)
        {
            foreach (var (scopes, accounts, reaches) in Callers(door))
            {
                var token = scopes is null ? null : _proxy.Token(string.Join(' ', scopes), accounts);
                foreach (var address in (Uri[])[_proxy.Grpc, _proxy.Admin])
                {
                    var before = _proxy.Backend.Commands.Count;
                    var told = await door.Knock(address, token);
                    var right = door.Right(address == _proxy.Admin, scopes, reaches);
                    // Of a page, and of HEAD, the reason is not there.
                    var isRight = told == right || (told.Reason.Length == 0 && told.Status == right.Status);
                    var isForwarded = _proxy.Backend.Commands.Count > before;
                    (tried, letIn) = (tried + 1, letIn + (right == Told.In ? 1 : 0));
                    if (!isRight || isForwarded != (right == Told.In && !door.ShowsAll))
                    {
                        wrong.Add(
                            $"{door} at {(address == _proxy.Admin ? "the admin address" : "the public one")} with "
                            + $"[{string.Join(' ', scopes ?? ["no token"])}] for [{string.Join(' ', accounts)}]: "
                            + $"{told} instead of {right}{(isForwarded ? ", and was forwarded" : "")}");
                    }
                }
            }
        }

        Assert.True(wrong.Count == 0, $"{wrong.Count} of {tried}:\n{string.Join('\n', wrong.Take(20))}");
        Assert.True(letIn > 0 && tried > 2 * letIn, $"{letIn} of {tried} are let in.");
    }

    // Nobody; and exactly each scope, all but each, all and none, each with accounts of every form.
    private static IEnumerable<(string[]? Scopes, string[] Accounts, bool Reaches)> Callers(Door door) =>
        ((string[][])[
            .. Scopes.All.Select(scope => new[] { scope }),
            .. Scopes.All.Select(scope => Scopes.All.Except([scope]).ToArray()), [.. Scopes.All], [],
        ]).SelectMany(scopes => Grants(door).Select(grant => ((string[]?)scopes, grant.Accounts, grant.Reaches)))
            .Prepend((null, [], false));

    private static IEnumerable<(string[] Accounts, bool Reaches)> Grants(Door door)
    {
        var network = PaymentTypes.NameOf(door.Network);
        var others = PaymentTypes.All.Where(type => type != door.Network).Select(PaymentTypes.NameOf).ToList();
        yield return (["*/*"], true);
        yield return ([$"{network}/{door.Account}"], !door.ShowsAll);
        yield return ([$"{network}/*"], !door.ShowsAll);
        yield return ([$"*/{door.Account}"], !door.ShowsAll);
        yield return ([.. others.Select(other => $"{other}/*")], false);
        yield return ([.. others.Select(other => $"{other}/{door.Account}"), $"{network}/another"], false);
        yield return ([$"{network}/{door.Account}1", $"*/{door.Account.ToUpperInvariant()}", "*/another"], false);
        yield return ([], false);
    }
}
