using Billing.Contracts;
using Billing.Messaging;
using Billing.Messaging.Requests;
using Billing.UnitTests.Testing;
using Billing.Wire.V1;
using Google.Protobuf;

namespace Billing.UnitTests.Messaging;

/// <summary>What holds for every kind of request of the wire contract.</summary>
public sealed class RequestKindTests : IDisposable
{
    private readonly PendingReplies _pending = new(TimeProvider.System);

    public static TheoryData<string> Kinds => [.. MessageIds.Requests.Select(request => request.Name)];

    public void Dispose() => _pending.Dispose();

    [Theory]
    [MemberData(nameof(Kinds))]
    public void A_request_has_a_kind_which_knows_its_place_in_a_command(string kind)
    {
        var command = CommandOf(kind);

        Assert.Equal(command.RequestCase, RequestKinds.Of(command)!.Field);
        Assert.Equal(command.ToByteArray(), Request.Of(command).ToCommand().ToByteArray());
    }

    [Theory]
    [MemberData(nameof(Kinds))]
    public void What_callers_send_needs_a_scope_that_tokens_may_have(string kind) =>
        Assert.Equal(kind != "expiry", Scopes.All.Contains(RequestKinds.Of(CommandOf(kind))!.Scope));

    [Theory]
    [MemberData(nameof(ApiMethods.Unary), MemberType = typeof(ApiMethods))]
    public void What_a_method_takes_has_a_kind(string method)
    {
        var request = ApiMethods.Of(method).InputType;

        Assert.Equal(request, RequestKinds.OfCallers(request).CallersRequest);
    }

    [Fact]
    public void What_only_the_platform_sends_is_no_request_of_a_caller() =>
        Assert.Throws<ArgumentException>(() => RequestKinds.OfCallers(HoldExpiry.Descriptor));

    [Fact]
    public void A_command_without_a_request_has_no_kind() => Assert.Null(RequestKinds.Of(new Command()));

    [Theory]
    [MemberData(nameof(Kinds))]
    public void A_call_is_matched_by_answers_of_its_own_kind_and_by_errors(string kind)
    {
        var (id, ids) = Call(kind);

        var matching = Kinds.Select(k => k.Data)
            .Where(other => MessageIds.AnswerOf(other, ids) is { } reply && Matches(id, reply));

        Assert.Equal(kind == "expiry" ? [] : [kind], matching);
        Assert.True(Matches(
            id, Replies.Error(0, Grpc.Core.StatusCode.Unavailable, ErrorReasons.EventStoreUnavailable, "down")));
        Assert.False(Matches(id, new Reply()));
    }

    [Theory]
    [MemberData(nameof(Kinds))]
    public void A_call_is_matched_by_no_answer_with_another_id(string kind)
    {
        var (id, ids) = Call(kind);
        foreach (var name in ids.Keys)
        {
            foreach (var other in (string[])["", "x", Guid.NewGuid().ToString()])
            {
                var reply = MessageIds.AnswerOf(kind, new Dictionary<string, string>(ids) { [name] = other });

                // No kind but expiry has an id and no answer.
                Assert.True(
                    reply is null ? kind == "expiry" : !HasId(reply, name) || !Matches(id, reply),
                    $"{name} is '{other}'");
            }
        }
    }

    [Theory]
    [MemberData(nameof(Kinds))]
    public void A_call_is_matched_by_an_answer_whose_ids_are_in_other_letters(string kind)
    {
        var (id, ids) = Call(kind);

        Assert.True(
            MessageIds.AnswerOf(
                kind, ids.ToDictionary(pair => pair.Key, pair => pair.Value.ToLowerInvariant())) is not { } reply
            || Matches(id, reply));
    }

    /// <summary>A payment that never will be recorded has no answer with its id.</summary>
    [Fact]
    public void A_question_about_a_payment_is_matched_by_a_status_without_the_payment()
    {
        var (id, _) = Call("payment_status");

        Assert.True(Matches(id, new Reply
        {
            PaymentStatus = new PaymentStatus { Error = new Error { Reason = ErrorReasons.CommandExpired } },
        }));
    }

    [Fact]
    public void A_queued_payment_is_one_in_its_command_and_read_from_it()
    {
        var request = Samples.PaymentRequest() with { IsQueued = true };

        Assert.True(request.ToCommand().IsQueued);
        Assert.True(Request.Of(request.ToCommand()).IsQueued);
        Assert.False(Samples.PaymentRequest().ToCommand().IsQueued);
    }

    private static bool HasId(Reply reply, string name) =>
        MessageIds.Of((IMessage)Reply.Descriptor.FindFieldByNumber((int)reply.ResultCase).Accessor.GetValue(reply))
            .Any(id => id.Name == name);

    private (ulong Id, Dictionary<string, string> Ids) Call(string kind)
    {
        var command = CommandOf(kind);
        var body = (IMessage)Command.Descriptor.FindFieldByName(kind).Accessor.GetValue(command);
        var ids = MessageIds.Of(body).ToDictionary(id => id.Name, id => id.Get());
        return (_pending.Register(Request.Of(command)).CorrelationId, ids);
    }

    private bool Matches(ulong id, Reply reply)
    {
        reply.CorrelationId = id;
        return _pending.MatchesCall(reply);
    }

    private static Command CommandOf(string kind)
    {
        var field = Command.Descriptor.FindFieldByName(kind);
        var command = new Command { TransactionId = Guid.NewGuid().ToString() };
        field.Accessor.SetValue(command, MessageIds.RequestOf(field.MessageType));
        return command;
    }
}
