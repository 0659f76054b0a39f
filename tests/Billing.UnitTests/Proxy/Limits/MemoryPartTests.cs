using System.Buffers;
using System.IO.Pipelines;
using Billing.Hosting;
using Billing.Messaging.Requests;
using Billing.Proxy;
using Billing.Proxy.Memory;
using Billing.UnitTests.Testing;
using Billing.V1;
using Billing.Wire.V1;
using Microsoft.Extensions.Options;

namespace Billing.UnitTests.Proxy.Limits;

/// <summary>How a proxy's memory is shared out.</summary>
public sealed class MemoryPartTests
{
    [Theory]
    [InlineData(1, 50)]
    [InlineData(2, 33)]
    [InlineData(4, 20)]
    [InlineData(9, 10)]
    public void Each_holder_gets_no_more_than_stays_free(int holders, int each)
    {
        var part = new MemoryPart("test", 100);
        var all = Enumerable.Range(0, holders).Select(_ => new MemoryPart.Holder()).ToList();
        while (all.Where(holder => part.TryTake(holder, 1)).ToList().Count > 0)
        {
        }
        Assert.All(all, holder => Assert.InRange(holder.Held, each - 1, each + 1));
        Assert.Equal(all.Sum(holder => holder.Held), part.Taken);
        Assert.True(part.TryTake(new MemoryPart.Holder(), 1));
    }

    [Fact]
    public void What_is_given_back_can_be_taken_again()
    {
        var (part, holder) = (new MemoryPart("test", 100), new MemoryPart.Holder());
        Assert.True(part.TryTake(holder, 50));
        Assert.False(part.TryTake(holder, 1));
        Assert.True(part.TryTake(holder, 1, beyond: 10));
        part.Give(holder, 51);
        Assert.Equal((0, 0), (holder.Held, part.Taken));
        Assert.True(part.TryTake(holder, 50));
    }

    [Fact]
    public void A_holder_gets_exactly_its_share_however_many_threads_take_for_it()
    {
        for (var round = 0; round < 200; round++)
        {
            var (part, holder) = (new MemoryPart("test", 1_000), new MemoryPart.Holder());
            Parallel.For(0, 1_000, _ => part.TryTake(holder, 1));
            Assert.Equal(500, holder.Held);
        }
    }

    [Fact]
    public void The_first_of_all_finds_memory_however_little_there_is() =>
        Assert.True(new MemoryPart("test", 1).TryTake(new MemoryPart.Holder(), 1_000));

    [Theory]
    [InlineData(288, 230, 1_000)]
    [InlineData(16_384, 2_500, 50_000)]
    public void A_proxy_derives_what_it_holds_from_its_memory(int megabytes, int connectionsEach, int callsMin)
    {
        var memory = new ProxyMemory(
            new MemoryBudget((long)megabytes << 20), Options.Create(new ProxyOptions()));
        Assert.Equal(connectionsEach, memory.Connections.Bytes / 2 / ProxyMemory.ConnectionBytes);
        Assert.InRange(memory.Calls, callsMin, 50_000);
        // The rest is for what comes and goes.
        Assert.InRange(
            memory.Parts.Sum(part => part.Bytes) + ((long)memory.Calls * ProxyMemory.CallBytes),
            0, ((long)megabytes << 20) / 100 * 70);
        Assert.All(memory.Parts, part => Assert.Contains(part.Name, memory.ToString(), StringComparison.Ordinal));
    }

    [Fact]
    public void A_call_with_a_large_message_takes_more_places()
    {
        Assert.Equal(1, ProxyMemory.PlacesOf(Samples.Payment().CalculateSize()));
        using var admission = Admissions.With(new() { InFlightMax = 100 });
        using var place = admission.Enter(Admissions.Caller, wanted: ProxyMemory.PlacesOf(16_384)).Value;
        Assert.Equal(33, admission.InFlight);
    }

    [Fact]
    public void A_proxy_with_little_memory_has_fewer_places_than_its_setting_says()
    {
        using var admission = Admissions.With(new() { InFlightMax = 50_000 }, memory: new MemoryBudget(64 << 20));
        Assert.Equal((64 << 20) / 100 * 15 / ProxyMemory.CallBytes, admission.Places);
    }

    [Fact]
    public void A_page_of_a_statement_ends_before_its_bytes_are_too_many_and_has_at_least_one_entry()
    {
        var (page, bytes, large) = (new StatementPage(), 0, new string('n', 30_000));
        var request = new StatementPageRequest { Limit = 1_000 };
        StatementEntry Entry(string reference) => new() { Notes = new PaymentNotes { Reference = reference } };

        Assert.True(page.TryAdd(request, Entry(large), ref bytes));
        Assert.True(page.TryAdd(request, Entry(large), ref bytes));
        Assert.False(page.TryAdd(request, Entry(large), ref bytes));
        Assert.InRange(page.CalculateSize(), 60_000, RequestKinds.StatementBytesMax);

        (page, bytes) = (new StatementPage(), 0);
        Assert.True(page.TryAdd(request, Entry(large + large + large), ref bytes));
        Assert.False(page.TryAdd(request, Entry(""), ref bytes));
        Assert.Null(RequestKinds.Statement.ProblemOf(request, page));
    }

    [Theory]
    [InlineData(1)]
    [InlineData(5)]
    [InlineData(9)]
    [InlineData(1_000)]
    public async Task The_end_of_each_stream_is_seen_however_its_frames_are_written(int pieceBytes)
    {
        var (pipe, ended) = (new Pipe(), new List<(int Stream, bool IsRefused)>());
        var meter = new AnswerMeter(pipe.Writer, (stream, isRefused) => ended.Add((stream, isRefused)));
        byte[] frames =
        [
            .. Frame(4, 0, 0, 6), .. Frame(1, 4, 1, 20), .. Frame(0, 0, 1, 300), .. Frame(1, 5, 1, 10),
            .. Frame(1, 4, 3, 20), .. Frame(0, 1, 3, 0), .. Frame(6, 1, 0, 8), .. Frame(3, 0, 5, 4),
            .. Frame(8, 0, 7, 4), .. Frame(1, 5, 9, 20), 0, 0, 4, 3, 0, 0, 0, 0, 11, 0, 0, 0, 7,
            .. Frame(0, 1, 13, 5),
        ];
        foreach (var piece in frames.Chunk(pieceBytes))
        {
            meter.Write(piece);
        }
        await meter.FlushAsync(TestContext.Current.CancellationToken);

        Assert.Equal([(1, false), (3, false), (5, false), (9, false), (11, true), (13, false)], ended);
        var passed = await pipe.Reader.ReadAsync(TestContext.Current.CancellationToken);
        Assert.Equal(frames, passed.Buffer.ToArray());
    }

    private static byte[] Frame(byte kind, byte flags, byte stream, int payload)
    {
        var frame = new byte[9 + payload];
        (frame[1], frame[2], frame[3], frame[4], frame[8]) =
            ((byte)(payload >> 8), (byte)payload, kind, flags, stream);
        // What looks like the headers of frames is payload.
        Array.Fill(frame, (byte)1, 9, payload);
        return frame;
    }
}
