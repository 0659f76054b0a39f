using Grpc.Core;

namespace Billing.ContractTests.GrpcApi;

public sealed class MetadataTests
{
    [Fact]
    public void A_key_is_stored_in_lower_case_and_found_regardless_of_case()
    {
        var metadata = new Metadata { { "X-Request.Id_1", "a" } };

        Assert.Equal("x-request.id_1", metadata[0].Key);
        Assert.Equal("a", metadata.GetValue("X-REQUEST.ID_1"));
    }

    [Theory]
    [InlineData("white space")]
    [InlineData("umlaut-ü")]
    [InlineData("colon:")]
    [InlineData(":authority")]
    public void A_key_with_invalid_characters_is_rejected(string key)
    {
        Assert.Throws<ArgumentException>(() => new Metadata.Entry(key, "value"));
        Assert.Throws<ArgumentException>(() => new Metadata.Entry(key + "-bin", [1]));
    }

    [Fact]
    public void The_suffix_of_a_key_determines_whether_its_value_is_binary()
    {
        Assert.Equal("-bin", Metadata.BinaryHeaderSuffix);
        Assert.Throws<ArgumentException>(() => new Metadata.Entry("key-bin", "text"));
        Assert.Throws<ArgumentException>(() => new Metadata.Entry("KEY-BIN", "text"));
        Assert.Throws<ArgumentException>(() => new Metadata.Entry("key", [1]));
        Assert.True(new Metadata.Entry("KEY-BIN", [1]).IsBinary);
    }

    [Fact]
    public void Null_is_rejected()
    {
        Assert.Throws<ArgumentNullException>(() => new Metadata.Entry(null!, "value"));
        Assert.Throws<ArgumentNullException>(() => new Metadata.Entry("key", (string)null!));
        Assert.Throws<ArgumentNullException>(() => new Metadata.Entry("key-bin", (byte[])null!));
        Assert.Throws<ArgumentNullException>(() => new Metadata().Add(null!));
    }

    [Fact]
    public void The_text_of_a_binary_entry_is_not_available()
    {
        var metadata = new Metadata { { "key-bin", [1, 2] } };

        Assert.Throws<InvalidOperationException>(() => metadata[0].Value);
        Assert.Throws<InvalidOperationException>(() => metadata.GetValue("key-bin"));
        Assert.Equal(new byte[] { 1, 2 }, metadata.GetValueBytes("key-bin"));
    }

    [Fact]
    public void The_bytes_of_a_text_entry_are_ASCII() =>
        Assert.Equal("abc"u8.ToArray(), new Metadata.Entry("key", "abc").ValueBytes);

    [Fact]
    public void A_binary_value_is_copied_in_and_out()
    {
        byte[] bytes = [1, 2];
        var entry = new Metadata.Entry("key-bin", bytes);
        bytes[0] = 9;
        entry.ValueBytes[1] = 9;

        Assert.Equal(new byte[] { 1, 2 }, entry.ValueBytes);
    }

    [Fact]
    public void The_last_entry_of_a_key_is_returned_and_all_are_kept()
    {
        var metadata = new Metadata { { "a", "1" }, { "b", "2" }, { "A", "3" } };

        Assert.Equal(3, metadata.Count);
        Assert.Equal("3", metadata.GetValue("a"));
        Assert.Same(metadata[2], metadata.Get("a"));
        Assert.Equal(["1", "3"], metadata.GetAll("a").Select(entry => entry.Value));
    }

    [Fact]
    public void A_missing_key_has_no_value()
    {
        var metadata = new Metadata { { "a", "1" } };

        Assert.Null(metadata.Get("b"));
        Assert.Null(metadata.GetValue("b"));
        Assert.Null(metadata.GetValueBytes("b"));
        Assert.Empty(metadata.GetAll("b"));
    }

    [Fact]
    public void Entries_can_be_inserted_replaced_and_removed_by_index()
    {
        var first = new Metadata.Entry("a", "1");
        var second = new Metadata.Entry("b", "2");
        var metadata = new Metadata { second };

        metadata.Insert(0, first);
        Assert.Equal([first, second], metadata);
        Assert.Equal(1, metadata.IndexOf(second));
        bool found = metadata.Contains(second);
        Assert.True(found);

        metadata[1] = first;
        found = metadata.Contains(second);
        Assert.False(found);
        metadata.RemoveAt(1);
        Assert.True(metadata.Remove(first));
        Assert.False(metadata.Remove(first));

        metadata.Add(first);
        metadata.Clear();
        Assert.Empty(metadata);
        Assert.False(metadata.IsReadOnly);
    }

    [Fact]
    public void The_empty_instance_is_read_only()
    {
        Assert.True(Metadata.Empty.IsReadOnly);
        Assert.Throws<InvalidOperationException>(() => Metadata.Empty.Add("a", "1"));
        Assert.Throws<InvalidOperationException>(() => Metadata.Empty.Insert(0, new Metadata.Entry("a", "1")));
        Assert.Throws<InvalidOperationException>(Metadata.Empty.Clear);
        Assert.Empty(Metadata.Empty);
    }

    [Fact]
    public void The_text_of_an_entry_has_its_key_and_value() =>
        Assert.Equal("[Entry: key=a, value=1]", new Metadata.Entry("A", "1").ToString());
}
