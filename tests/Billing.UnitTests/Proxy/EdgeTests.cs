using System.Collections;
using System.Net;
using System.Net.Sockets;
using Billing.Contracts;
using Billing.Messaging.Requests;
using Billing.UnitTests.Testing;
using Billing.V1;
using Billing.Wire.V1;
using Google.Protobuf;
using Google.Protobuf.Reflection;
using Grpc.Core;
using Microsoft.Extensions.Logging.Testing;

namespace Billing.UnitTests.Proxy;

/// <summary>Requests, fields and connections that a proxy rejects or removes.</summary>
public sealed class EdgeTests
{
    // Field 999, length-delimited: no message of the contract has this field.
    private static readonly byte[] Foreign = [.. new byte[] { 0xBA, 0x3E, 100 }, .. new byte[100]];

    private readonly FakeBackend _backend = new();

    public static TheoryData<string> Kinds => [.. RequestKinds.All.Select(kind => kind.Field.ToString())];

    [Theory]
    [MemberData(nameof(ApiMethods.Unary), MemberType = typeof(ApiMethods))]
    public async Task Fields_that_the_contract_does_not_have_are_not_published(string method)
    {
        _backend.Answer = command => Task.FromResult(CompleteReplies.To(command));
        await using var proxy = await ProxyHost.StartAsync(_backend);
        var request = MessageIds.RequestOf(ApiMethods.Of(method).InputType);

        await ApiMethods.CallAsync(proxy.Invoker, method, WithForeign(request));

        var command = Assert.Single(_backend.Commands);
        Assert.Equal(Command.Parser.WithDiscardUnknownFields(true).ParseFrom(command.ToByteArray()), command);
    }

    [Fact]
    public async Task Neither_are_those_of_a_payment_on_a_stream()
    {
        await using var proxy = await ProxyHost.StartAsync(_backend);
        using var stream = proxy.Client.MakePayments();

        await stream.RequestStream.WriteAsync((MakePaymentRequest)WithForeign(Samples.Payment()));
        Assert.True(await stream.ResponseStream.MoveNext(CancellationToken.None));

        Assert.Equal(Samples.Payment(), Assert.Single(_backend.Commands).Payment);
    }

    [Theory]
    [MemberData(nameof(Kinds))]
    public void Every_field_of_the_contract_is_published(string name)
    {
        var kind = RequestKinds.All.Single(kind => kind.Field.ToString() == name);
        var type = Command.Descriptor.FindFieldByNumber((int)kind.Field).MessageType;
        var known = (Delegate)kind.GetType().GetProperty(nameof(RequestKinds.Payment.KnownFields))!.GetValue(kind)!;
        for (var choice = 0; choice < type.Oneofs.Select(oneof => oneof.Fields.Count).DefaultIfEmpty(1).Max(); choice++)
        {
            var request = Fill(type.Parser.ParseFrom(ByteString.Empty), choice);

            Assert.Equal(request, known.DynamicInvoke(request));
        }
    }

    [Theory]
    [InlineData("localhost", null, true)]
    [InlineData("page.example", null, false)]
    [InlineData("page.example", "page.example", true)]
    [InlineData("localhost", "page.example", false)]
    public async Task Where_only_this_machine_reaches_it_a_proxy_answers_to_this_machines_names_or_to_those_it_is_given(
        string host, string? allowed, bool isServed)
    {
        using var log = new FakeLoggerProvider();
        await using var proxy = await ProxyHost.StartAsync(
            _backend, withRest: true,
            settings: new Dictionary<string, string?> { ["AllowedHosts"] = allowed }, logs: log);
        using var http = new HttpClient();
        using var request = new HttpRequestMessage(
            HttpMethod.Post, new Uri(proxy.Address + "/grpc.health.v1.Health/Check"))
        {
            Version = HttpVersion.Version20,
            VersionPolicy = HttpVersionPolicy.RequestVersionExact,
            Headers = { Host = host },
            Content = new ByteArrayContent(new byte[5]) { Headers = { { "Content-Type", "application/grpc" } } },
        };

        using var answer = await http.SendAsync(request, TestContext.Current.CancellationToken);

        using var rest =
            new HttpRequestMessage(HttpMethod.Get, new Uri(proxy.Rest, "/health/live")) { Headers = { Host = host } };
        using var problem = await http.SendAsync(rest, TestContext.Current.CancellationToken);
        var text = await problem.Content.ReadAsStringAsync(TestContext.Current.CancellationToken);
        Assert.Equal(HttpStatusCode.OK, answer.StatusCode);
        Assert.Equal(isServed ? HttpStatusCode.OK : HttpStatusCode.BadRequest, problem.StatusCode);
        Assert.Equal(isServed, !answer.Headers.Contains("grpc-status"));
        if (!isServed)
        {
            Assert.Equal(["3"], answer.Headers.GetValues("grpc-status"));
            Assert.Contains(
                "AllowedHosts", Assert.Single(answer.Headers.GetValues("grpc-message")), StringComparison.Ordinal);
            Assert.Contains("AllowedHosts", text, StringComparison.Ordinal);
            Assert.Equal("application/problem+json", problem.Content.Headers.ContentType?.MediaType);
            Assert.Contains(ErrorReasons.HostNotAllowed, text, StringComparison.Ordinal);
        }
        Assert.Equal(
            isServed ? 0 : 1,
            log.Collector.GetSnapshot()
                .Count(line => line.Message.Contains(ErrorReasons.HostNotAllowed, StringComparison.Ordinal)));
    }

    [Fact]
    public async Task By_default_a_request_of_more_than_16_KiB_is_refused()
    {
        await using var proxy = await ProxyHost.StartAsync(_backend);

        var refused = await Assert.ThrowsAsync<RpcException>(
            () => proxy.Client.MakePaymentAsync(Samples.Payment(new string('a', 16_384))).ResponseAsync);

        Assert.Equal(ErrorReasons.RequestTooLarge, refused.Reason());
        Assert.Empty(_backend.Commands);
    }

    [Fact]
    public async Task A_connection_above_the_limit_is_closed_and_a_closed_connection_frees_its_place()
    {
        await using var proxy = await ProxyHost.StartAsync(_backend, options => options.ConnectionsMax = 1);
        using (var only = Grpc.Net.Client.GrpcChannel.ForAddress(proxy.Address))
        {
            await new BillingService.BillingServiceClient(only).MakePaymentAsync(Samples.Payment());
            using var surplus = await ConnectAsync(proxy);
            Assert.True(await IsClosedAsync(surplus));
        }

        TcpClient? next = null;
        do
        {
            next?.Dispose();
            next = await ConnectAsync(proxy);
        }
        while (await IsClosedAsync(next));
        next.Dispose();
    }

    private static async Task<TcpClient> ConnectAsync(ProxyHost proxy)
    {
        var address = new Uri(proxy.Address);
        var client = new TcpClient();
        try
        {
            await client.ConnectAsync(address.Host, address.Port);
        }
        catch (SocketException e) when (e.SocketErrorCode == SocketError.ConnectionReset)
        {
            // Closed as soon as it was there.
        }
        return client;
    }

    /// <summary>Whether the server closes the connection instead of answering the HTTP/2 preface.</summary>
    private static async Task<bool> IsClosedAsync(TcpClient client)
    {
        if (!client.Connected)
        {
            return true;
        }
        try
        {
            await client.GetStream().WriteAsync("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\u0004\0\0\0\0\0"u8.ToArray());
            return await client.GetStream().ReadAsync(new byte[1]) == 0;
        }
        catch (IOException)
        {
            return true;
        }
    }

    // In the message, and in each message in it.
    private static IMessage WithForeign(IMessage message)
    {
        foreach (var field in message.Descriptor.Fields.InDeclarationOrder()
            .Where(field => field.FieldType == FieldType.Message && !field.IsRepeated))
        {
            if (field.Accessor.GetValue(message) is IMessage part)
            {
                field.Accessor.SetValue(message, WithForeign(part));
            }
        }
        return message.Descriptor.Parser.ParseFrom([.. message.ToByteArray(), .. Foreign]);
    }

    private static IMessage Fill(IMessage message, int choice)
    {
        foreach (var field in message.Descriptor.Fields.InDeclarationOrder()
            .Where(field => field.ContainingOneof is not { Fields: var fields }
                || fields[Math.Min(choice, fields.Count - 1)] == field))
        {
            switch (field.Accessor.GetValue(message))
            {
                case IDictionary pairs:
                    pairs["name"] = "value";
                    break;
                case IList list:
                    list.Add(ValueOf(field, choice));
                    break;
                default:
                    field.Accessor.SetValue(message, ValueOf(field, choice));
                    break;
            }
        }
        return message;
    }

    private static object ValueOf(FieldDescriptor field, int choice) => field.FieldType switch
    {
        FieldType.String => field.Name,
        FieldType.Enum => Enum.ToObject(field.EnumType.ClrType, 1),
        FieldType.Bool => true,
        FieldType.Bytes => ByteString.CopyFromUtf8(field.Name),
        FieldType.Int32 => 32,
        FieldType.Int64 => 64L,
        FieldType.Message => Fill(field.MessageType.Parser.ParseFrom(ByteString.Empty), choice),
        _ => throw new NotSupportedException($"{field.FullName} has a type that this test cannot fill."),
    };
}
