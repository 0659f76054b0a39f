using System.Net;
using Billing.Rpc.Rpcx;
using Billing.V1;
using Microsoft.Extensions.Logging.Abstractions;

namespace Billing.UnitTests.Rpc.Rpcx;

public sealed class ServiceContractTests
{
    [RpcxService("right")]
    private interface IRight
    {
        [RpcxMethod("pay")]
        Task<MakePaymentResponse> PayAsync(MakePaymentRequest request);

        [RpcxMethod("check")]
        Task<CheckBalanceResponse> CheckAsync(CheckBalanceRequest request);
    }

    private interface INameless
    {
        [RpcxMethod("pay")]
        Task<MakePaymentResponse> PayAsync(MakePaymentRequest request);
    }

    [RpcxService("wrong")]
    private interface INamelessMethod
    {
        Task<MakePaymentResponse> PayAsync(MakePaymentRequest request);
    }

    [RpcxService("wrong")]
    private interface IWithToken
    {
        [RpcxMethod("pay")]
        Task<MakePaymentResponse> PayAsync(MakePaymentRequest request, CancellationToken cancellationToken);
    }

    [RpcxService("wrong")]
    private interface ISynchronous
    {
        [RpcxMethod("pay")]
        MakePaymentResponse PayAsync(MakePaymentRequest request);
    }

    [RpcxService("wrong")]
    private interface IText
    {
        [RpcxMethod("pay")]
        Task<MakePaymentResponse> PayAsync(string request);
    }

    [RpcxService("wrong")]
    private interface ITwice
    {
        [RpcxMethod("pay")]
        Task<MakePaymentResponse> PayAsync(MakePaymentRequest request);

        [RpcxMethod("pay")]
        Task<MakePaymentResponse> PayAgainAsync(MakePaymentRequest request);
    }

    [Fact]
    public void A_service_has_the_public_names_of_its_attributes()
    {
        var methods = ServiceContract.Read(typeof(IRight));
        Assert.Equal(["right/pay", "right/check"], methods.Select(m => m.Name));
        Assert.Equal(
            (typeof(CheckBalanceRequest), typeof(CheckBalanceResponse)), (methods[1].Request, methods[1].Reply));
        Assert.NotEqual(methods[0].Number, methods[1].Number);
    }

    [Theory]
    [InlineData(typeof(INameless), "INameless is no interface with [RpcxService(\"name\")].")]
    [InlineData(typeof(ServiceContractTests), "ServiceContractTests is no interface with [RpcxService(\"name\")].")]
    [InlineData(typeof(INamelessMethod))]
    [InlineData(typeof(IWithToken))]
    [InlineData(typeof(ISynchronous))]
    [InlineData(typeof(IText))]
    public void Problems_of_an_interface_are_reported(Type type, string? problem = null) => Assert.EndsWith(
        problem ?? type.Name
            + ".PayAsync is not of the form [RpcxMethod(\"name\")] Task<TReply> Name(TRequest request) with messages.",
        Assert.Throws<ArgumentException>(() => ServiceContract.Read(type)).Message, StringComparison.Ordinal);

    [Fact]
    public async Task An_invalid_interface_is_rejected_when_its_proxy_is_created()
    {
        await using var client = new RpcxClient(
            new RpcxClientOptions("localhost:1"), new ManualTime(), NullLogger<RpcxClient>.Instance);
        Assert.Throws<ArgumentException>(client.Proxy<IText>);
        Assert.NotNull(client.Proxy<IRight>());
    }

    [Fact]
    public async Task A_public_name_cannot_be_published_twice()
    {
        await using var server = new RpcxServer(
            new IPEndPoint(IPAddress.Loopback, 0), new ManualTime(), NullLogger<RpcxServer>.Instance);
        server.Publish<IRight>(new Right());
        Assert.Throws<ArgumentException>(() => server.Publish<IRight>(new Right()));
        Assert.Throws<ArgumentException>(() => server.Publish<ITwice>(new Right()));
    }

    private sealed class Right : IRight, ITwice
    {
        public Task<MakePaymentResponse> PayAsync(MakePaymentRequest request) => throw new NotSupportedException();

        public Task<MakePaymentResponse> PayAgainAsync(MakePaymentRequest request) => throw new NotSupportedException();

        public Task<CheckBalanceResponse> CheckAsync(CheckBalanceRequest request) => throw new NotSupportedException();
    }
}
