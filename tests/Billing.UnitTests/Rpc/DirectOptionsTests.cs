using Billing.Rpc;

namespace Billing.UnitTests.Rpc;

public sealed class DirectOptionsTests
{
    [Theory]
    [InlineData("grpc", DirectProtocol.Grpc)]
    [InlineData("GRPC", DirectProtocol.Grpc)]
    [InlineData("rpcX", DirectProtocol.Rpcx)]
    public void A_protocol_is_recognised_in_any_case(string protocol, DirectProtocol expected) =>
        Assert.Equal(expected, new DirectOptions { Protocol = protocol }.KnownProtocol);

    [Theory]
    [InlineData("a:1")]
    [InlineData("a:1,b:2")]
    [InlineData(" a:1 , b:2 ,")]
    public void Addresses_separated_by_commas_are_valid(string backends) =>
        Assert.Empty(new DirectOptions { Backends = backends }.ProxyProblems());

    [Theory]
    [InlineData("", "Billing:Direct:Backends is missing")]
    [InlineData(" , ", "Billing:Direct:Backends is missing")]
    [InlineData("a:1,nowhere", "Billing:Direct:Backends: 'nowhere' is not of the form host:port")]
    [InlineData("a:1,b:0", "Billing:Direct:Backends: 'b:0' is not of the form host:port")]
    [InlineData("a:1,b:2,A:1", "Billing:Direct:Backends: 'a:1' is listed 2 times")]
    public void Invalid_addresses_are_reported(string backends, string problem) => Assert.StartsWith(
        problem, Assert.Single(new DirectOptions { Backends = backends }.ProxyProblems()), StringComparison.Ordinal);

    [Theory]
    [InlineData("")]
    [InlineData("soap")]
    [InlineData("1")]
    public void An_unknown_protocol_is_reported_on_both_sides(string protocol)
    {
        var options = new DirectOptions { Protocol = protocol, Backends = "a:1", Listen = "b:2" };
        var problem = $"Billing:Direct:Protocol must be grpc or rpcx; it is '{protocol}'.";

        Assert.Equal(problem, Assert.Single(options.ProxyProblems()));
        Assert.Equal(problem, Assert.Single(options.BackendProblems()));
    }

    [Theory]
    [InlineData("", "Billing:Direct:Listen is missing")]
    [InlineData("6000", "Billing:Direct:Listen: '6000' is not of the form host:port")]
    public void A_backend_needs_a_valid_listen_address(string listen, string problem) => Assert.StartsWith(
        problem, Assert.Single(new DirectOptions { Listen = listen }.BackendProblems()), StringComparison.Ordinal);

    [Theory]
    [InlineData("127.0.0.1:6000", 0)]
    [InlineData("[::1]:6000", 0)]
    [InlineData("*:6000", 0)]
    [InlineData("localhost:6000", 0)]
    [InlineData("backend-1:6000", 1)]
    public void RPCX_needs_an_IP_address_to_listen_on(string listen, int problems) =>
        Assert.Equal(problems, new DirectOptions { Protocol = "rpcx", Listen = listen }.BackendProblems().Count());
}
