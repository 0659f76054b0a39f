using System.Net;
using Billing.Rpc.Rpcx;
using Billing.Rpc.Rpcx.Calling;
using Billing.Rpc.Rpcx.Serving;
using Billing.V1;
using Microsoft.Extensions.Logging.Abstractions;

namespace Billing.UnitTests.Rpc.Rpcx;

public sealed class ServiceContractTests
{
    [RpcxService("right")]
    private interface IRight
    {
        [RpcxMethod("pay")]
        Task<MakePaymentResponse> PayAsync(MakePaymentRequest request, RpcxCallOptions options);

        [RpcxMethod("check")]
        Task<CheckBalanceResponse> CheckAsync(CheckBalanceRequest request, RpcxCallOptions options);
    }

    private interface INameless
    {
        [RpcxMethod("pay")]
        Task<MakePaymentResponse> PayAsync(MakePaymentRequest request, RpcxCallOptions options);
    }

    [RpcxService("")]
    private interface IEmptyName
    {
        [RpcxMethod("pay")]
        Task<MakePaymentResponse> PayAsync(MakePaymentRequest request, RpcxCallOptions options);
    }

    [RpcxService("wrong")]
    private interface IEmpty;

    [RpcxService("wrong")]
    private interface INamelessMethod
    {
        Task<MakePaymentResponse> PayAsync(MakePaymentRequest request, RpcxCallOptions options);
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
        MakePaymentResponse Pay(MakePaymentRequest request, RpcxCallOptions options);
    }

    [RpcxService("wrong")]
    private interface IText
    {
        [RpcxMethod("pay")]
        Task<MakePaymentResponse> PayAsync(string request, RpcxCallOptions options);
    }

    [RpcxService("wrong")]
    private interface IGeneric
    {
        [RpcxMethod("pay")]
        Task<MakePaymentResponse> PayAsync<T>(T request, RpcxCallOptions options);
    }

    [RpcxService("wrong")]
    private interface ITwice
    {
        [RpcxMethod("pay")]
        Task<MakePaymentResponse> PayAsync(MakePaymentRequest request, RpcxCallOptions options);

        [RpcxMethod("pay")]
        Task<MakePaymentResponse> PayAgainAsync(MakePaymentRequest request, RpcxCallOptions options);
    }

    [Fact]
    public void A_service_has_the_public_names_of_its_attributes()
    {
        var contract = ServiceContract.Read(typeof(IRight));
        Assert.Equal("right", contract.Name);
        Assert.Equal(["pay", "check"], contract.Methods.Select(m => m.Name));
        Assert.Equal(typeof(CheckBalanceRequest), contract.Methods[1].Request);
        Assert.Equal(typeof(CheckBalanceResponse), contract.Methods[1].Reply);
    }

    [Theory]
    [InlineData(typeof(INameless), "INameless has no [RpcxService(\"name\")].")]
    [InlineData(typeof(IEmptyName), "IEmptyName [RpcxService] needs a name of 1 to 200 characters.")]
    [InlineData(typeof(IEmpty), "IEmpty has no methods.")]
    [InlineData(typeof(INamelessMethod), "INamelessMethod.PayAsync has no [RpcxMethod(\"name\")].")]
    [InlineData(typeof(IWithToken), "IWithToken.PayAsync is not of the form Task<TReply> Name(TRequest request, RpcxCallOptions options).")]
    [InlineData(typeof(ISynchronous), "ISynchronous.Pay is not of the form Task<TReply> Name(TRequest request, RpcxCallOptions options).")]
    [InlineData(typeof(IText), "IText.PayAsync takes or returns String, which is not a Google.Protobuf message.")]
    [InlineData(typeof(IGeneric), "IGeneric.PayAsync is not of the form Task<TReply> Name(TRequest request, RpcxCallOptions options).")]
    [InlineData(typeof(ITwice), "ITwice gives the public name 'pay' to PayAsync and PayAgainAsync.")]
    [InlineData(typeof(ServiceContractTests), "ServiceContractTests is not an interface.")]
    public void Problems_of_an_interface_are_reported(Type type, string problem) => Assert.EndsWith(
        problem, Assert.Throws<ArgumentException>(() => ServiceContract.Read(type)).Message, StringComparison.Ordinal);

    [Fact]
    public async Task An_invalid_interface_is_rejected_when_its_proxy_is_created()
    {
        await using var client = new RpcxClient(
            new RpcxClientOptions { Address = "localhost:1" }, new ManualTime(), NullLogger<RpcxClient>.Instance);
        Assert.Throws<ArgumentException>(client.Proxy<ITwice>);
        Assert.NotNull(client.Proxy<IRight>());
    }

    [Fact]
    public async Task A_public_name_cannot_be_published_twice()
    {
        await using var server = new RpcxServer(
            new RpcxServerOptions { Listen = new IPEndPoint(IPAddress.Loopback, 0) }, new ManualTime(), NullLogger<RpcxServer>.Instance);
        server.Publish<IRight>(new Right());
        var e = Assert.Throws<ArgumentException>(() => server.Publish<IRight>(new Right()));
        Assert.EndsWith("the public name 'right' is published already.", e.Message, StringComparison.Ordinal);
    }

    private sealed class Right : IRight
    {
        public Task<MakePaymentResponse> PayAsync(MakePaymentRequest request, RpcxCallOptions options) =>
            throw new NotSupportedException();

        public Task<CheckBalanceResponse> CheckAsync(CheckBalanceRequest request, RpcxCallOptions options) =>
            throw new NotSupportedException();
    }
}
